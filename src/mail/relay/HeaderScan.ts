const RECEIVED = "received"
const DELIVERED_TO = "delivered-to"
const MESSAGE_ID = "message-id"

/** Parsed bytes of a header line: enough for a field of this relay. */
const LINE = 400

/** More traces than the hop limit add nothing. */
const MAX_TRACES = 200

const CR = 13
const LF = 10

export interface Scanned {
  readonly received: number
  /** Addresses of `Delivered-To` fields, in lower case. */
  readonly deliveredTo: ReadonlyArray<string>
  readonly hasMessageId: boolean
  readonly eightBit: boolean
  /** A lone CR or LF: servers disagree whether such lines end there (SMTP smuggling). */
  readonly bareLineEnd: boolean
  /** Some servers drop NULs, so that an end of the message may appear that this relay does not see. */
  readonly hasNul: boolean
  /** The first line would continue the relay's own trace fields. */
  readonly startsFolded: boolean
}

export class HeaderScan {
  #inHeader = true
  #line = ""
  #lineBytes = 0
  #previous = LF
  #received = 0
  readonly #deliveredTo: Array<string> = []
  #hasMessageId = false
  #eightBit = false
  #bareLineEnd = false
  #hasNul = false
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
        else if (byte === 0) this.#hasNul = true
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
      hasNul: this.#hasNul,
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
