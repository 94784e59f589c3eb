import { createSocket, type Socket } from "node:dgram"
import { connect } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { CLASSES, FLAGS } from "../../src/dns/wire/codes.ts"
import { type DnsMessage, readMessage } from "../../src/dns/wire/message.ts"
import { framed, MessageFrames } from "../../src/dns/wire/MessageFrames.ts"
import { MessageWriter } from "../../src/dns/wire/MessageWriter.ts"
import { lowerCaseName } from "../../src/dns/wire/name.ts"
import type { RandomQuestion } from "./generatedNames.ts"

/** Milliseconds until a question is asked again, and attempts. A resolver that asks others is slow sometimes. */
const PATIENCE = 5_000
const ATTEMPTS = 4

/** Milliseconds after an attempt without an answer: a closed port is reported at once, as while a server starts. */
const PAUSE = 50

const writer = new MessageWriter()

/** A query with RD and DO. */
export const queryFor = ({ name, type }: RandomQuestion, id: number): Uint8Array => {
  writer.start({ id, flags: FLAGS.RD, question: { asked: name, type, class: CLASSES.IN } })
  writer.opt({ size: 1_232, extendedRcode: 0, dnssec: true, options: [] })
  return writer.bytes()
}

const isAnswerTo = ({ name, type }: RandomQuestion, { questions: [asked] }: DnsMessage): boolean =>
  asked === undefined || (asked.type === type && lowerCaseName(asked.asked) === lowerCaseName(name))

/** Asks one server over UDP, from one socket, and over TCP where the answer is cut. */
export class DnsAsker {
  readonly #port: number
  readonly #socket: Socket = createSocket("udp4")
  readonly #connected: Promise<void>
  readonly #waiting = new Map<number, (message: DnsMessage | undefined) => void>()
  #id = 0

  constructor(port: number) {
    this.#port = port
    this.#socket.on("message", (bytes) => {
      const message = readMessage(bytes)
      this.#waiting.get(message.id)?.(message)
    })
    // A closed port: only a connected socket learns of it, and not for which question.
    this.#socket.on("error", () => {
      for (const end of this.#waiting.values()) end(undefined)
    })
    this.#connected = new Promise((resolve) => this.#socket.connect(port, "127.0.0.1", resolve))
  }

  /** With RD and DO. `undefined` if no answer comes. */
  async ask(question: RandomQuestion): Promise<DnsMessage | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const message = await this.#overUdp(question)
      if (message !== undefined) return (message.flags & FLAGS.TC) === 0 ? message : this.#overTcp(question)
      await pause(PAUSE)
    }
    return undefined
  }

  close(): void {
    this.#socket.close()
  }

  async #overUdp(question: RandomQuestion): Promise<DnsMessage | undefined> {
    await this.#connected
    do this.#id = (this.#id + 1) & 0xffff
    while (this.#waiting.has(this.#id))
    const id = this.#id
    return new Promise((resolve) => {
      const end = (message: DnsMessage | undefined): void => {
        // An answer to an earlier question of this number, which came too late.
        if (message !== undefined && !isAnswerTo(question, message)) return
        clearTimeout(timer)
        this.#waiting.delete(id)
        resolve(message)
      }
      const timer = setTimeout(() => end(undefined), PATIENCE)
      this.#waiting.set(id, end)
      this.#socket.send(queryFor(question, id))
    })
  }

  #overTcp(question: RandomQuestion): Promise<DnsMessage | undefined> {
    return new Promise((resolve) => {
      const frames = new MessageFrames()
      const socket = connect({ port: this.#port, host: "127.0.0.1" }, () => socket.write(framed(queryFor(question, 1))))
      socket.setTimeout(PATIENCE, () => socket.destroy())
      socket.on("error", () => {}).on("close", () => resolve(undefined)).on("data", (chunk) => {
        for (const bytes of frames.take(chunk)) resolve(readMessage(bytes))
        socket.destroy()
      })
    })
  }
}
