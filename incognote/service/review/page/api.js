// Asking the API with the key of this tab.

const KEY = "incognote-key";

export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const remember = key => key ? sessionStorage.setItem(KEY, key) : sessionStorage.removeItem(KEY);

const headers = () => {
  const key = sessionStorage.getItem(KEY);
  return key ? { Authorization: `Bearer ${key}` } : {};
};

const answered = async (method, path, body) => {
  const asked = { method, headers: headers(), cache: "no-store", credentials: "omit", redirect: "error" };
  if (body !== undefined) {
    asked.body = JSON.stringify(body);
    asked.headers["Content-Type"] = "application/json";
  }
  const response = await fetch(path, asked);
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  const faults = (told.faults || []).map(fault => `${fault.at}: ${fault.says}`).join("; ");
  throw new Problem(response.status, [told.detail || `status ${response.status}`, faults].filter(Boolean).join(" – "));
};

export const ask = async (method, path, body) => (await answered(method, path, body)).json();

// A file that the browser saves.
export const save = async (path, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await (await answered("GET", path)).blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};
