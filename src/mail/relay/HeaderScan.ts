/** The fields that say where a message has been. */
const RECEIVED = "received"
const DELIVERED_TO = "delivered-to"
const MESSAGE_ID = "message-id"

/** Bytes of a header line that are looked at: enough for a field of ours. */
const LINE = 400

/** Traces that are remembered; more of them than hops that are allowed say nothing new. */
const MAX_TRACES = 200

const CR = 13
const LF = 10

/** What a message says about its way, and whether its lines end as they should. */
export interface Scanned {
  /** Number of `Received` fields. */
  readonly received: number
  /** Addresses of `Delivered-To` fields, in lower case. */
  readonly deliveredTo: ReadonlyArray<string>
  readonly hasMessageId: boolean
  /** Whether there is a byte beyond ASCII. */
  readonly eightBit: boolean
  /** Whether a CR or LF stands alone. Servers disagree about where such lines end (SMTP smuggling). */
  readonly bareLineEnd: boolean
  /** Whether the first line continues a field that is not there: it would continue ours. */
  readonly startsFolded: boolean
}

/** Looks over a message while it comes in, whatever pieces it comes in. One pass over its bytes. */
export class HeaderScan {
  #inHeader = true
  /** The beginning of the current line of the header. */
  #line = ""
  #lineBytes = 0
  #previous = LF
  #received = 0
  readonly #deliveredTo: Array<string> = []
  #hasMessageId = false
  #eightBit = false
  #bareLineEnd = false
  #startsFolded = false
  #first = true

  push(chunk: Uint8Array): void {
    let previous = this.#previous
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0
      if (byte === LF) {
        if (previous !== CR) this.#bareLineEnd = true
        if (this.#inHeader) this.#endLine()
      } else {
        if (previous === CR) this.#bareLineEnd = true
        if (byte > 127) this.#eightBit = true
        if (this.#inHeader && byte !== CR) {
          if (this.#lineBytes < LINE) this.#line += String.fromCharCode(byte)
          this.#lineBytes += 1
        }
      }
      previous = byte
    }
    this.#previous = previous
  }

  end(): Scanned {
    if (this.#inHeader && this.#lineBytes > 0) this.#endLine()
    return {
      received: this.#received,
      deliveredTo: this.#deliveredTo,
      hasMessageId: this.#hasMessageId,
      eightBit: this.#eightBit,
      bareLineEnd: this.#bareLineEnd || this.#previous === CR,
      startsFolded: this.#startsFolded
    }
  }

  #endLine(): void {
    const line = this.#line
    if (this.#lineBytes === 0) this.#inHeader = false
    else if (line.startsWith(" ") || line.startsWith("\t")) this.#startsFolded ||= this.#first
    else this.#field(line)
    this.#first = false
    this.#line = ""
    this.#lineBytes = 0
  }

  #field(line: string): void {
    const colon = line.indexOf(":")
    if (colon < 0) return
    switch (line.slice(0, colon).trimEnd().toLowerCase()) {
      case RECEIVED:
        this.#received += 1
        return
      case MESSAGE_ID:
        this.#hasMessageId = true
        return
      case DELIVERED_TO:
        if (this.#deliveredTo.length < MAX_TRACES) {
          this.#deliveredTo.push(Buffer.from(line.slice(colon + 1).trim(), "latin1").toString("utf8").toLowerCase())
        }
    }
  }
}
