import { randomBytes } from "node:crypto"
import { connect, createServer, type Server, type Socket } from "node:net"
import { encodeFrame, FrameParser } from "../../src/network/wire/framing.ts"
import { decodeMessage, encodeMessage, type Message } from "../../src/network/wire/message.ts"
import { Services } from "../../src/network/wire/messages/version.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { pause } from "./nodeProcess.ts"

/** Parts of a slow or hostile network: delays, stalls, garbage. */

export interface LineOptions {
  /** Milliseconds that bytes take, each way. */
  readonly delay: number
  /** Bytes after which the other side sends nothing more, while the connection stays open. */
  readonly stallAfter?: number
}

/** A port of loopback that forwards to another one over a slow line. */
export class SlowLine {
  private readonly server: Server
  private readonly sockets = new Set<Socket>()

  private constructor(target: number, { delay, stallAfter = Infinity }: LineOptions) {
    this.server = createServer((near) => {
      const far = connect(target, "127.0.0.1")
      let returned = 0
      const forward = (from: Socket, to: Socket, stops: boolean): void => {
        this.sockets.add(from)
        from.setNoDelay(true)
        from.on("data", (bytes) => {
          if (stops) returned += bytes.length
          if (stops && returned > stallAfter) return
          setTimeout(() => to.destroyed || to.write(bytes), delay)
        })
        from.on("error", () => to.destroy())
        from.on("close", () => {
          this.sockets.delete(from)
          setTimeout(() => to.destroy(), delay)
        })
      }
      forward(near, far, false)
      forward(far, near, true)
    })
  }

  static open(target: number, options: LineOptions): Promise<SlowLine> {
    const line = new SlowLine(target, options)
    return new Promise((resolve) => line.server.listen(0, "127.0.0.1", () => resolve(line)))
  }

  get port(): number {
    const address = this.server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }

  close(): void {
    this.server.close()
    for (const socket of this.sockets) socket.destroy()
  }
}

/** Bytes a second that a line takes, shared by all its users. */
export class Bandwidth {
  private readonly bytesPerSecond: number
  /** When the line has sent what was given to it, milliseconds. */
  private free = 0

  constructor(bytesPerSecond: number) {
    this.bytesPerSecond = bytesPerSecond
  }

  /** Takes the line for so many bytes; returns the milliseconds until they are through. */
  take(bytes: number): number {
    const now = performance.now()
    this.free = Math.max(this.free, now) + 1000 * bytes / this.bytesPerSecond
    return this.free - now
  }
}

/** Ports of loopback that forward to others; what comes back shares one bandwidth. */
export class SharedLine {
  private readonly servers: ReadonlyArray<Server>
  private readonly sockets = new Set<Socket>()

  constructor(targets: ReadonlyArray<number>, bandwidth: Bandwidth) {
    this.servers = targets.map((target) =>
      createServer((near) => {
        const far = connect(target, "127.0.0.1")
        for (const socket of [near, far]) {
          this.sockets.add(socket)
          socket.setNoDelay(true)
          socket.on("error", () => socket.destroy())
        }
        near.on("data", (bytes) => void far.write(bytes))
        far.on("data", (bytes) => {
          // Nothing is read ahead of the line: the sender feels it.
          far.pause()
          setTimeout(() => {
            if (!near.destroyed) near.write(bytes)
            far.resume()
          }, bandwidth.take(bytes.length))
        })
        near.on("close", () => far.destroy())
        far.on("close", () => near.destroy())
      })
    )
  }

  /** Opens the ports. */
  open(): Promise<ReadonlyArray<number>> {
    return Promise.all(
      this.servers.map((server) =>
        new Promise<number>((resolve) =>
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resolve(typeof address === "object" && address !== null ? address.port : 0)
          })
        )
      )
    )
  }

  close(): void {
    for (const server of this.servers) server.close()
    for (const socket of this.sockets) socket.destroy()
  }
}

const nowhere = { services: 0n, address: { network: "ipv4" as const, bytes: new Uint8Array(4) }, port: 0 }

/** The first message of a peer that has the blocks up to a height. */
export const hello = (height: number): Message => ({
  type: "version",
  version: 110_016,
  services: Services.network | Services.witness,
  time: Math.floor(Date.now() / 1000),
  receiver: nowhere,
  sender: { address: nowhere, nonce: randomBytes(8).readBigUInt64LE() },
  userAgent: "/bench:0/",
  startHeight: height,
  relay: true
})

/**
 * Connects to a node as a peer does; resolves once the handshake is complete, and answers pings from then on. `from` is
 * the loopback address that the peer calls from.
 */
export const idlePeer = (magic: Bytes, port: number, from = "127.0.0.1"): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from })
    socket.once("connect", () => void socket.write(encodeMessage(magic, hello(0))))
    const parser = new FrameParser(magic)
    socket.once("error", reject)
    socket.once("close", () => reject(new Error("the node closed the connection")))
    socket.on("data", (chunk) => {
      for (const framed of parser.push(chunk)) {
        if (framed.type !== "frame") continue
        const message = decodeMessage(framed.command, framed.payload)
        if (message.type === "version") socket.write(encodeMessage(magic, { type: "verack" }))
        else if (message.type === "ping") {
          socket.write(encodeMessage(magic, { type: "pong", nonce: message.nonce ?? 0n }))
        } else if (message.type === "verack") resolve(socket)
      }
    })
  })

/** Invalid payloads in valid frames. */
const garbage = (magic: Bytes): ReadonlyArray<Uint8Array> => {
  const frames = [
    encodeFrame(magic, "block", [randomBytes(1_000_000)]),
    encodeFrame(magic, "headers", [randomBytes(160_000)]),
    encodeFrame(magic, "frobnicate", [randomBytes(100_000)]),
    encodeFrame(magic, "inv", [randomBytes(36_000)]),
    ...Array.from({ length: 200 }, () => encodeFrame(magic, "ping", [randomBytes(8)]))
  ]
  const broken = encodeFrame(magic, "tx", [randomBytes(200_000)])
  broken.set([0, 0, 0, 0], 20)
  return [...frames, broken]
}

/** Waits until a socket accepts more, or is closed. */
export const drained = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      socket.off("drain", done).off("close", done)
      resolve()
    }
    socket.on("drain", done).on("close", done)
  })

/** Peers that send garbage as fast as a node reads it, and connect again when the node disconnects them. */
export class GarbagePeers {
  private over = false
  private readonly sockets = new Set<Socket>()
  bytesSent = 0

  constructor(magic: Bytes, port: number, count: number) {
    const frames = garbage(magic)
    for (let i = 0; i < count; i++) void this.torment(magic, port, frames)
  }

  private async torment(magic: Bytes, port: number, frames: ReadonlyArray<Uint8Array>): Promise<void> {
    while (!this.over) {
      try {
        const socket = await idlePeer(magic, port)
        this.sockets.add(socket)
        socket.on("error", () => undefined)
        for (let i = 0; !this.over && !socket.destroyed; i++) {
          const frame = frames[i % frames.length]
          if (frame === undefined) break
          this.bytesSent += frame.length
          if (!socket.write(frame)) {
            await drained(socket)
          }
        }
        this.sockets.delete(socket)
      } catch {
        // Refused: retries soon.
      }
      await pause(20)
    }
  }

  stop(): void {
    this.over = true
    for (const socket of this.sockets) socket.destroy()
  }
}
