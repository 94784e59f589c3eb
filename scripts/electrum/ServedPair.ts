import { isDeepStrictEqual } from "node:util"
import type { Address } from "../../src/base/addresses.ts"
import type { Call } from "./calls.ts"
import { type ElectrumSession, openSession, request } from "./session.ts"

/** Requests and errors of a session: servers slow down and end sessions that cost much. */
const MOST_REQUESTS = 300
const MOST_ERRORS = 6

/** A client of one server, in as many sessions as it takes. */
export class Client {
  readonly #address: Address
  readonly #version: string
  #session: Promise<ElectrumSession> | undefined
  #requests = 0
  #errors = 0

  constructor(address: Address, version: string) {
    this.#address = address
    this.#version = version
  }

  /** The answer to one line; empty if the server ends the session. */
  async send(line: string): Promise<string> {
    if (++this.#requests > MOST_REQUESTS || this.#errors > MOST_ERRORS) await this.close()
    this.#session ??= this.#begin()
    const answer = await (await this.#session).ask(line)
    if (answer === "") await this.close()
    if (answer.includes("\"error\"")) this.#errors++
    return answer
  }

  async result(method: string, ...params: ReadonlyArray<unknown>): Promise<unknown> {
    const answer: { readonly result?: unknown } = JSON.parse(await this.send(request(method, ...params)) || "{}")
    return answer.result
  }

  async close(): Promise<void> {
    const session = this.#session
    this.#session = undefined
    this.#requests = 0
    this.#errors = 0
    ;(await session)?.close()
  }

  async #begin(): Promise<ElectrumSession> {
    const session = await openSession(this.#address)
    await session.ask(request("server.version", "compare", this.#version))
    return session
  }
}

export interface Difference {
  readonly sent: string
  readonly answers: readonly [string, string]
}

const read = (text: string): unknown => text === "" ? "no answer" : JSON.parse(text)

/** Two servers that are asked the same. */
export class ServedPair {
  readonly #addresses: readonly [Address, Address]
  readonly #clients: readonly [Client, Client]
  /** Messages sent to both. */
  asked = 0
  readonly differences: Array<Difference> = []

  constructor(addresses: readonly [Address, Address], version: string) {
    this.#addresses = addresses
    this.#clients = [new Client(addresses[0], version), new Client(addresses[1], version)]
  }

  async call([method, params]: Call): Promise<void> {
    await this.send(`${JSON.stringify({ jsonrpc: "2.0", method, params, id: 0 })}\n`)
  }

  async send(line: string): Promise<void> {
    const [first, second] = this.#clients
    this.#note(line, await Promise.all([first.send(line), second.send(line)]))
  }

  /** The first message of a session of its own. Programs have different names. */
  async first(line: string): Promise<void> {
    const answers = await Promise.all(this.#addresses.map(async (address) => {
      const session = await openSession(address)
      const answer = await session.ask(line)
      session.close()
      return answer.replace(/"result": ?\["[^"]*"/u, "\"result\":[\"program\"")
    }))
    this.#note(line, [answers[0] ?? "", answers[1] ?? ""])
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close()
  }

  #note(line: string, answers: readonly [string, string]): void {
    this.asked++
    if (isDeepStrictEqual(read(answers[0]), read(answers[1]))) return
    this.differences.push({ sent: line.trim(), answers })
  }
}

/** What differences have in common: the method, and which of the answers are errors. */
export const kindOf = ({ answers, sent }: Difference): string => {
  const method = /"method": ?"([^"]*)"/u.exec(sent)?.[1] ?? "other messages"
  const shown = answers.map((answer) =>
    answer === "" ? "end" : answer.includes("\"error\":{") || /"error": \{/u.test(answer) ? "error" : "result"
  )
  return `${method}: ${shown.join(", ")}`
}
