import { connect, type Socket } from "node:net"
import { regtestParams } from "../../src/consensus/params.ts"
import { pause } from "../bench/nodeProcess.ts"
import { drained, idlePeer } from "../bench/traffic.ts"
import type { Target } from "./Target.ts"

export const { magic } = regtestParams.network

/** Peers that attack at once: with the honest ones they just fit into the slots of inbound peers. */
export const PEERS = 95

/** Milliseconds until a disconnected peer connects again. */
const AGAIN = 50

/** Milliseconds that an attacker waits for a handshake, and that all of them have before the attack. */
const HANDSHAKE = 5_000
const GATHERING = 10_000

/** Bytes that are written at once: the rest waits with the attacker until the node reads them. */
const SLICE = 0x40000

/** Where attackers call from: all from one address of loopback, or each from its own. */
export type From = "one" | "many"

/** The tools of attackers: connections to the node that are counted, and that end with the attack. */
export class Field {
  readonly target: Target
  private readonly sockets = new Set<Socket>()
  connections = 0
  private done = false
  private moved = false
  /** Peers whose handshake was complete before the attack began. */
  private readonly gathered = new Map<number, Socket>()
  private sent = 0

  constructor(target: Target) {
    this.target = target
  }

  get over(): boolean {
    return this.done
  }

  /** Bytes that the node's side of the connections received. */
  get bytes(): number {
    let open = 0
    for (const socket of this.sockets) open += socket.bytesWritten - socket.writableLength
    return this.sent + open
  }

  stop(): void {
    this.done = true
    for (const socket of this.sockets) socket.destroy()
  }

  /** Closes all connections; attackers from one address connect again from many. */
  move(): void {
    this.moved = true
    for (const socket of this.sockets) socket.destroy()
  }

  private adopt(socket: Socket): Socket {
    this.sockets.add(socket)
    this.connections += 1
    socket.on("error", () => undefined)
    socket.on("close", () => {
      this.sent += socket.bytesWritten - socket.writableLength
      this.sockets.delete(socket)
    })
    if (this.done) socket.destroy()
    return socket
  }

  /** The loopback address of an attacker; from many, a new one each time. */
  private address(from: From, i: number): string {
    if (from === "one" && !this.moved) return "127.0.0.2"
    return `127.${10 + i}.${1 + (this.connections >> 8) % 250}.${1 + this.connections % 250}`
  }

  /** A connection to a port; `undefined` where it is refused. */
  private raw(port: number, from: string): Promise<Socket | undefined> {
    return new Promise((resolve) => {
      const socket = connect({ port, host: "127.0.0.1", localAddress: from })
      socket.once("error", () => resolve(undefined))
      socket.once("connect", () => resolve(this.adopt(socket)))
    })
  }

  /** A bare connection to the port of peers. */
  bare(from: From, i: number): Promise<Socket | undefined> {
    return this.raw(this.target.port, this.address(from, i))
  }

  /** A connection to RPC. */
  caller(): Promise<Socket | undefined> {
    return this.raw(this.target.rpcPort, "127.0.0.2")
  }

  /** Connects peers before the attack begins, so that all of them begin at once; gives up after a while. */
  async gather(from: From): Promise<void> {
    const late = performance.now() + GATHERING
    await Promise.all(Array.from({ length: PEERS }, async (_, i) => {
      for (let socket: Socket | undefined; socket === undefined && performance.now() < late;) {
        socket = await this.peer(from, i)
        if (socket !== undefined) this.gathered.set(i, socket)
      }
    }))
  }

  /** A peer that completed its handshake, and discards what it reads; `undefined` where the node refused it. */
  async peer(from: From, i: number): Promise<Socket | undefined> {
    const waiting = this.gathered.get(i)
    this.gathered.delete(i)
    if (waiting !== undefined && !waiting.destroyed) return waiting
    const address = this.address(from, i)
    try {
      const socket = await Promise.race([
        idlePeer(magic, this.target.port, address),
        pause(HANDSHAKE).then(() => Promise.reject(new Error("no handshake")))
      ])
      socket.removeAllListeners("data")
      socket.resume()
      return this.adopt(socket)
    } catch {
      return undefined
    }
  }

  /** Writes as fast as the socket accepts it; `false` where the attack or the connection is over. */
  async write(socket: Socket, bytes: Uint8Array): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += SLICE) {
      if (this.done || socket.destroyed) return false
      if (!socket.write(bytes.subarray(at, at + SLICE))) await drained(socket)
    }
    return !this.done && !socket.destroyed
  }

  /** Waits until a connection is closed. */
  closed(socket: Socket): Promise<void> {
    return socket.destroyed ? Promise.resolve() : new Promise((resolve) => void socket.once("close", () => resolve()))
  }

  /** Runs so many attackers at once, each repeatedly until the attack is over. */
  async each(count: number, attack: (i: number) => Promise<void>): Promise<void> {
    const one = async (i: number): Promise<void> => {
      while (!this.done) {
        await attack(i)
        await pause(AGAIN)
      }
    }
    await Promise.all(Array.from({ length: count }, (_, i) => one(i)))
  }

  /** Peers that send the same pieces repeatedly, and connect again when the node disconnects them. */
  flood(from: From, pieces: ReadonlyArray<Uint8Array>, peers = PEERS): Promise<void> {
    // Each begins at another piece, so that two do not send the same at once.
    const at = Array.from({ length: peers }, (_, i) => Math.floor(i * pieces.length / peers))
    return this.each(peers, async (i) => {
      const socket = await this.peer(from, i)
      if (socket === undefined) return
      for (;;) {
        const next = at[i] ?? 0
        const piece = pieces[next % pieces.length]
        at[i] = next + 1
        if (piece === undefined || !await this.write(socket, piece)) return
      }
    })
  }

  /** Peers that send a message and then keep the connection open. */
  hold(from: From, bytes: Uint8Array, peers = PEERS): Promise<void> {
    return this.each(peers, async (i) => {
      const socket = await this.peer(from, i)
      if (socket === undefined) return
      if (await this.write(socket, bytes)) await this.closed(socket)
    })
  }
}
