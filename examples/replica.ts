/**
 * A copy of all names, kept up to date from the events of a daemon, even across reorganizations:
 *
 *   node build/examples/replica.js http://USER:PASSWORD@127.0.0.1:8336
 *
 * Names and values are bytes, so the copy has them in hexadecimal digits: as text, some would be missing. Save the records
 * together with the cursor, and the copy goes on after a restart without loss or repetition.
 */

import { setTimeout } from "node:timers/promises"

interface NameRecord {
  readonly value: string
  readonly txid: string
  readonly expires_at: number
}

export interface Replica {
  readonly names: Map<string, NameRecord>
  cursor: string
}

/** Takes one line of the stream. Events of other types, such as `expired`, change no record. */
export const take = (replica: Replica, line: string): void => {
  const event = JSON.parse(line)
  if (event.type === "error") throw new Error(event.error)
  for (const { name, record } of event.type === "undone" ? event.names : event.record === undefined ? [] : [event]) {
    if (record === null) replica.names.delete(name)
    else replica.names.set(name, record)
  }
  replica.cursor = event.cursor
}

/** How the copy has names and values. */
export const ENCODINGS = "nameEncoding=hex&valueEncoding=hex"

/** The daemon does not answer this request, and will not if it is asked again. */
export class Refused extends Error {}

/** Follows the events of a daemon until the connection ends. */
export const follow = async (address: string, replica: Replica): Promise<void> => {
  const { origin, password, pathname, username } = new URL(address)
  // The address may have a path: that of a proxy in front of the daemon.
  const events = `${origin}${pathname.replace(/\/$/, "")}/events`
  const user = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")
  const answer = await fetch(`${events}?${ENCODINGS}&from=${replica.cursor}`, {
    headers: { accept: "application/x-ndjson", ...username === "" ? {} : { authorization: `Basic ${user}` } }
  })
  if (!answer.ok || answer.body === null) {
    const text = `${answer.status}: ${await answer.text()}`
    // 429: the daemon has had too many requests, and answers a later one.
    throw answer.status < 500 && answer.status !== 429 ? new Refused(text) : new Error(text)
  }
  let rest = ""
  for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) take(replica, line)
  }
}

const [, program, address] = process.argv
if (/replica\.[jt]s$/.test(program ?? "") && address !== undefined) {
  const replica: Replica = { names: new Map(), cursor: "0" }
  setInterval(() => console.log(`${replica.names.size} names, cursor ${replica.cursor}`), 5_000)
  for (;;) {
    await follow(address, replica).catch((error: unknown) => {
      console.error(String(error))
      if (error instanceof Refused) process.exit(1)
    })
    await setTimeout(1_000)
  }
}
