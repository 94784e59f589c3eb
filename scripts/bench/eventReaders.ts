// Readers of /events in a process of their own: eventReaders.js PORT READERS FROM EVENTS. Tells its parent when all are
// connected, when each height has arrived at all of them, and when one of them has received so many events.

import { connect } from "node:net"

const [port = 0, readers = 1, , wanted = Infinity] = process.argv.slice(2).map(Number)
const from = process.argv[4] ?? "now"

const now = (): number => performance.timeOrigin + performance.now()
const start = now()

/** When each height came, for each reader. */
const arrivals = new Map<number, Array<number>>()
let connected = 0

const arrived = (height: number): void => {
  const times = arrivals.get(height) ?? []
  arrivals.set(height, times)
  times.push(now())
  if (times.length === readers) process.send?.({ height, times })
}

/** The beginning of an event: its id is a cursor with a version. */
const EVENT = "\nid: a"

/** Readers that connect at a time: a listener closes connections without a request, where it has many. */
const AT_ONCE = 50

let begun = 0

const begin = (): void => {
  begun++
  let events = 0
  let end = ""
  let last = -1
  let isOpen = false
  const socket = connect(port, "127.0.0.1")
  socket.on("error", (error) => {
    throw error
  })
  socket.write(`GET /events?from=${from} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`)
  socket.on("data", (bytes) => {
    const text = bytes.toString("latin1")
    if (!isOpen && text.includes("position")) {
      isOpen = true
      if (++connected === readers) process.send?.({ connected })
      if (begun < readers) begin()
    }
    if (wanted < Infinity) {
      // The beginning of an event may be in two pieces.
      const joined = end + text
      end = joined.slice(1 - EVENT.length)
      events += joined.split(EVENT).length - 1
      if (events >= wanted) process.send?.({ events, begun: start, at: now() })
    }
    const at = text.lastIndexOf("\"hash\":\"")
    if (wanted < Infinity || at < 0) return
    const height = Number(/"height":(\d+),$/.exec(text.slice(Math.max(0, at - 40), at))?.[1] ?? -1)
    if (height > last) {
      last = height
      arrived(height)
    }
  })
}

while (begun < Math.min(readers, AT_ONCE)) begin()
