// Browsers start no worker for a page that is read from the disk. The search then runs in a hidden frame, which looks like a
// worker to it.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      inside.document.open()
      inside.document.write("<body>")
      inside.document.close()
      const load = each => new Promise((loaded, failed) => {
        const script = inside.document.createElement("script")
        Object.assign(script, {src: each, onload: loaded, onerror: failed})
        inside.document.body.append(script)
      })
      inside.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => load(each)), Promise.resolve())
      inside.postMessage = data => {
        const event = new MessageEvent("message", {data})
        this.dispatchEvent(event)
        this.onmessage?.(event)
      }
      this.ready = load(new URL(url, location).href)
    }

    postMessage(data) {
      const inside = this.frame.contentWindow
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", {data})))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
