// Search when the site is opened from disk: a browser starts no worker on file://, so the script runs in a hidden frame.
// Zensical would load a package for this from a public server.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = data => setTimeout(() => this.onmessage?.({ data }));
      const script = inside.document.createElement("script");
      script.src = url;
      script.onerror = event => this.onerror?.(event);
      this.ready = new Promise(resolve => { script.onload = resolve; });
      inside.document.head.append(script);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.onmessage({ data }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
