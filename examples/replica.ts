/**
 * A copy of all names, kept up to date from the events of a daemon, also over reorganizations:
 *
 *   node build/examples/replica.js http://127.0.0.1:8336
 *
 * Save the records together with the cursor, and the copy goes on after a restart without loss or repetition.
 */

interface NameRecord {
  readonly value?: string
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

/** Follows the events of a daemon until the connection ends. */
export const follow = async (
  address: string,
  replica: Replica,
  headers: Record<string, string> = {}
): Promise<void> => {
  const url = `${address}/events?nameEncoding=hex&from=${replica.cursor}`
  const answer = await fetch(url, { headers: { ...headers, accept: "application/x-ndjson" } })
  if (!answer.ok || answer.body === null) throw new Error(`${answer.status}: ${await answer.text()}`)
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
  for (;;) await follow(address, replica).catch((error: unknown) => console.error(String(error)))
}
