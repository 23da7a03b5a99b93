// Requests to the API with the key of this tab.

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

const sentence = words => `${words[0].toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;

const request = async (method, path, body) => {
  const options = { method, headers: headers(), cache: "no-store", credentials: "omit", redirect: "error" };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Problem(0, "The server does not answer. Check the network, and that `incognote serve` is running. Then try again.");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  const faults = (problem.faults || []).map(fault => `${fault.at}: ${fault.says}`).join("; ");
  throw new Problem(response.status, [sentence(problem.detail || `the server answered with status ${response.status}`), faults].filter(Boolean).join(" "));
};

export const ask = async (method, path, body) => (await request(method, path, body)).json();

// A file that the browser saves.
export const save = async (path, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await (await request("GET", path)).blob());
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};
