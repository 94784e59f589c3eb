import { Duplex } from "node:stream"
import type { Bytes } from "../../../src/protocol/bytes.ts"

/** One end of a connection in the simulated network. It behaves as a socket of Node.js does. */

export interface Ends {
  readonly localAddress: string
  readonly localPort: number
  readonly remoteAddress: string
  readonly remotePort: number
}

/** What the connection does for its end. */
export interface Wire {
  readonly write: (bytes: Bytes, taken: () => void) => void
  readonly end: () => void
  readonly read: () => void
  readonly closed: () => void
}

/** Bytes that Node.js buffers for each direction. */
const BUFFERED = 0x10000

const ignored = (): void => {}

const brokenWith = (code: string): Error => Object.assign(new Error(code), { code })

export class SimSocket extends Duplex implements Ends {
  readonly localAddress: string
  readonly localPort: number
  readonly remoteAddress: string
  readonly remotePort: number
  private readonly wire: Wire

  constructor({ localAddress, localPort, remoteAddress, remotePort }: Ends, wire: Wire) {
    super({ allowHalfOpen: false, readableHighWaterMark: BUFFERED, writableHighWaterMark: BUFFERED })
    this.localAddress = localAddress
    this.localPort = localPort
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
    this.wire = wire
    // An error without a listener would end the process.
    this.on("error", ignored)
  }

  setNoDelay(): this {
    return this
  }

  /** The connection broke. */
  break(code: string): void {
    this.destroy(brokenWith(code))
  }

  /** Its owner runs no more: ends without telling it. */
  forget(): void {
    this.removeAllListeners()
    this.on("error", ignored)
    this.destroy()
  }

  override _read(): void {
    this.wire.read()
  }

  override _write(chunk: Bytes, _: string, done: () => void): void {
    this.wire.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.wire.end()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.wire.closed()
    done(error)
  }
}
