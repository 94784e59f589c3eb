// The least that a server in node:http can do with JSON: it parses a request and sends it back. The RPC server is
// compared with it. Prints its port.

import { createServer } from "node:http"

const server = createServer((request, response) => {
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString())
    const text = JSON.stringify({ result: value, error: null, id: 1 })
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) })
    response.end(text)
  })
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${typeof address === "object" && address !== null ? address.port : 0}\n`)
})
