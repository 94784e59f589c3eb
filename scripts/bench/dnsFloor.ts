// What one socket of node:dgram costs alone: answers each question with one address, whatever it asks, in a process of its own.
// With a names.db, it first reads the value of the question's name, and does nothing with it: what one SELECT costs on top. None
// of the code is svcd's, so that a change of svcd changes svcd's side of the comparison alone. Sends its port, and ends
// when the process that measures it disconnects.

import SQLite from "better-sqlite3"
import { createSocket } from "node:dgram"
import process from "node:process"

const [filename] = process.argv.slice(2)

const valueOf = filename === undefined
  ? undefined
  : new SQLite(filename, { readonly: true })
    .prepare("SELECT value FROM operations WHERE id = (SELECT operation FROM names WHERE name = ?)")

const HEADER_BYTES = 12

/** One record A for the name of the question, which a pointer repeats. */
const RECORD = Uint8Array.of(0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 2, 0x58, 0, 4, 192, 0, 2, 1)

/** Behind the question in dnsperf's messages: OPT without options. */
const OPT_BYTES = 11

// As in src/dns/serve/udp.ts.
const socket = createSocket({
  type: "udp4",
  recvBufferSize: 1 << 20,
  lookup: (address, _family, callback) => callback(null, address, 0)
})

const PREFIX = Buffer.from("d/")

const readValue = (query: Buffer): void => {
  const label = query.subarray(HEADER_BYTES + 1, HEADER_BYTES + 1 + (query[HEADER_BYTES] ?? 0))
  valueOf?.get(Buffer.concat([PREFIX, label]))
}

socket.on("message", (query, { address, port }) => {
  if (valueOf !== undefined) readValue(query)
  const questionEnd = query.length - OPT_BYTES
  const answer = new Uint8Array(questionEnd + RECORD.length)
  answer.set(query.subarray(0, questionEnd))
  answer.set(RECORD, questionEnd)
  // A response with one answer and nothing else.
  answer[2] = 0x84
  answer[7] = 1
  answer[11] = 0
  socket.send(answer, port, address)
})

socket.bind(0, "127.0.0.1", () => process.send?.(socket.address().port))

process.on("disconnect", () => process.exit())
