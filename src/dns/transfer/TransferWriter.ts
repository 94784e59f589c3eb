import type { DnsRecord, RecordSet } from "../records.ts"
import { FLAGS, MAX_MESSAGE_BYTES } from "../wire/codes.ts"
import type { MessageQuestion } from "../wire/message.ts"
import type { SetHead } from "../wire/MessageWriter.ts"
import { MessageWriter } from "../wire/MessageWriter.ts"

/** Names behind the first 16 kB of a message cannot be pointed at, so that longer ones save nothing. */
const MESSAGE_BYTES = 0x4000

export interface TransferHead {
  readonly id: number
  /** Only the first message has it (RFC 5936, section 2.2). */
  readonly question: MessageQuestion | undefined
  /** Bytes to leave free in each message, for TSIG. */
  readonly spare: number
}

/** Packs the records of a transfer into messages (RFC 5936, section 2.2). */
export class TransferWriter {
  readonly #head: TransferHead
  readonly #writer = new MessageWriter()
  #done: Array<Uint8Array> = []
  #records = 0

  constructor(head: TransferHead) {
    this.#head = head
    this.#start(head.question, MESSAGE_BYTES)
  }

  #start(question: MessageQuestion | undefined, limit: number): void {
    const { id, spare } = this.#head
    this.#writer.start({ id, flags: FLAGS.QR | FLAGS.AA, question }, limit - spare)
    this.#records = 0
  }

  #end(): void {
    if (this.#records > 0) this.#done.push(this.#writer.bytes())
  }

  add(set: RecordSet): void {
    for (const record of set.records) this.#record(set, record)
  }

  #record(set: SetHead, record: DnsRecord): void {
    if (this.#write(set, record)) return
    this.#end()
    this.#start(undefined, MESSAGE_BYTES)
    if (this.#write(set, record)) return
    // One record of more than 16 kB. One that no message holds is left out.
    this.#start(undefined, MAX_MESSAGE_BYTES)
    if (this.#write(set, record)) this.#end()
    this.#start(undefined, MESSAGE_BYTES)
  }

  #write(set: SetHead, record: DnsRecord): boolean {
    const fits = this.#writer.record("answer", set, record)
    if (fits) this.#records++
    return fits
  }

  /** The messages that are full, each once. */
  take(): ReadonlyArray<Uint8Array> {
    const done = this.#done
    this.#done = []
    return done
  }

  /** The last messages. */
  finish(): ReadonlyArray<Uint8Array> {
    this.#end()
    return this.take()
  }
}
