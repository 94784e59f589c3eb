// Sends one question over several keep-alive connections, each waiting for its answer before the next question, and
// prints the times as JSON. It is a process of its own without an HTTP library, so that the server is what is measured.
// Arguments: port, connections, seconds, the body of the request, and the value of an Authorization header where one is needed.

import { connect } from "node:net"

const [port = "", connections = "8", seconds = "2", body = "", authorization = ""] = process.argv.slice(2)

const request = Buffer.from(
  `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
    (authorization === "" ? "" : `Authorization: ${authorization}\r\n`) +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
)

const END_OF_HEAD = Buffer.from("\r\n\r\n")
const LENGTH = /\r\ncontent-length: (\d+)\r\n/i

const started = performance.now()
const until = started + Number(seconds) * 1000
const latencies: Array<number> = []
let bytes = 0
let wrong = 0

/** One client: a request after each answer, until the time is up. */
const client = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1")
    socket.setNoDelay()
    let received: Buffer = Buffer.alloc(0)
    /** Length of head and body of the answer; 0 while its head is incomplete. */
    let expected = 0
    let asked = 0
    const ask = (): void => {
      asked = performance.now()
      socket.write(request)
    }
    socket.on("connect", ask)
    socket.on("error", reject)
    socket.on("data", (part) => {
      received = received.length === 0 ? part : Buffer.concat([received, part])
      if (expected === 0) {
        const end = received.indexOf(END_OF_HEAD)
        if (end < 0) return
        const head = received.toString("latin1", 0, end + 2)
        if (!head.startsWith("HTTP/1.1 200 ")) wrong += 1
        expected = end + END_OF_HEAD.length + Number(LENGTH.exec(head)?.[1] ?? 0)
      }
      if (received.length < expected) return
      const now = performance.now()
      latencies.push(now - asked)
      bytes += expected
      received = received.subarray(expected)
      expected = 0
      if (now < until) return ask()
      socket.destroy()
      resolve()
    })
  })

await Promise.all(Array.from({ length: Number(connections) }, client))

const took = (performance.now() - started) / 1000
latencies.sort((a, b) => a - b)
const quantile = (part: number): number => latencies[Math.floor(part * (latencies.length - 1))] ?? 0

process.stdout.write(JSON.stringify({
  requests: latencies.length,
  perSecond: latencies.length / took,
  bytesEach: Math.round(bytes / latencies.length),
  p50: quantile(0.5),
  p99: quantile(0.99),
  max: quantile(1),
  wrong
}))
