// The honest side of an attack, in a process of its own: peers that called the node and one that the node called, each
// measuring pings; callers that ask for a name over one connection, and one that opens a new connection for each call.
// Each question is due at a planned time, from which its answer is timed: a question that waits for the one before it
// counts as late. The process communicates with main.ts over IPC.

import { randomBytes } from "node:crypto"
import { connect, createServer, type Socket } from "node:net"
import { setPriority } from "node:os"
import process from "node:process"
import { regtestParams } from "../../src/consensus/params.ts"
import { FrameParser } from "../../src/network/wire/framing.ts"
import { decodeMessage, encodeMessage } from "../../src/network/wire/message.ts"
import { hello } from "../bench/traffic.ts"
import type { Observed, ProberOrder } from "./observed.ts"
import type { Target } from "./Target.ts"

// The prober stands for peers and callers on machines of their own: the attackers beside it on this one must not delay its
// clock. Only root may raise a priority.
try {
  setPriority(-10)
} catch {
  // An ordinary user measures what the scheduler leaves.
}

const { magic } = regtestParams.network

/** Peers that call the node, beside the attackers: all of them fit into the slots. */
const INBOUND = 4

/** Milliseconds between two pings of a peer that called: the node limits the rate of such a peer. */
const INBOUND_INTERVAL = 1_000

/** Milliseconds between two pings of the peer that the node called. */
const OUTBOUND_INTERVAL = 100

/** Callers with a connection each, and milliseconds between two calls of one. */
const CALLERS = 4
const CALL_INTERVAL = 100

/** Milliseconds between two calls over new connections. */
const NEW_CALL_INTERVAL = 200

const pings: Array<number> = []
const calls: Array<number> = []
const newCalls: Array<number> = []
const complaints = new Map<string, number>()
/** Questions that wait for their answer: when they were due. */
const waiting = new Map<object, { readonly due: number; readonly into: Array<number> }>()
let measuring = false
let over = false

const complain = (text: string): void => {
  if (measuring) complaints.set(text, (complaints.get(text) ?? 0) + 1)
}

const asked = (into: Array<number>, due: number): object => {
  const key = {}
  waiting.set(key, { due, into })
  return key
}

const answered = (key: object): void => {
  const question = waiting.get(key)
  if (question === undefined) return
  waiting.delete(key)
  if (measuring) question.into.push(performance.now() - question.due)
}

/** Calls `act` only the first time. */
const once = (act: () => void): () => void => {
  let acted = false
  return () => {
    if (acted) return
    acted = true
    act()
  }
}

/** Calls `act` at regular times, as long as it returns `true`. */
const every = (interval: number, act: (due: number) => void, first = performance.now()): void => {
  let due = first
  const step = (): void => {
    if (over) return
    act(due)
    due += interval
    setTimeout(step, due - performance.now())
  }
  setTimeout(step, Math.max(0, due - performance.now()))
}

/** Shakes hands and pings; complaints contain `name`. */
const honestPeer = (
  socket: Socket,
  { interval, name, phase = 0 }: { readonly name: string; readonly interval: number; readonly phase?: number },
  shaken: () => void
): void => {
  const parser = new FrameParser(magic)
  const open = new Map<bigint, object>()
  let ready = false
  const send = (...messages: ReadonlyArray<Parameters<typeof encodeMessage>[1]>): void => {
    for (const message of messages) socket.write(encodeMessage(magic, message))
  }
  socket.setNoDelay()
  socket.on("error", () => undefined)
  socket.on("close", () => {
    for (const key of open.values()) waiting.delete(key)
    ready = false
    if (!over) complain(`${name} was disconnected`)
  })
  socket.on("data", (chunk) => {
    for (const framed of parser.push(chunk)) {
      if (framed.type !== "frame") continue
      const message = decodeMessage(framed.command, framed.payload)
      if (message.type === "version") send({ type: "verack" })
      else if (message.type === "ping") send({ type: "pong", nonce: message.nonce ?? 0n })
      else if (message.type === "getheaders") send({ type: "headers", headers: [] })
      else if (message.type === "pong") {
        const key = open.get(message.nonce ?? 0n)
        open.delete(message.nonce ?? 0n)
        if (key !== undefined) answered(key)
      } else if (message.type === "verack") {
        ready = true
        shaken()
      }
    }
  })
  every(interval, (due) => {
    if (!ready) return
    const nonce = randomBytes(8).readBigUInt64LE()
    open.set(nonce, asked(pings, due))
    send({ type: "ping", nonce })
  }, performance.now() + phase)
}

const requestOf = (target: Target, authorization: string | undefined, close: boolean): string => {
  const body = JSON.stringify({ id: 1, method: "name_show", params: [target.name] })
  const credentials = authorization === undefined
    ? ""
    : `Authorization: Basic ${Buffer.from(authorization).toString("base64")}\r\n`
  return `POST / HTTP/1.1\r\nHost: 127.0.0.1:${target.rpcPort}\r\n${credentials}` +
    `${close ? "Connection: close\r\n" : ""}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** Reads answers with a length from a socket, and reports what is wrong with each. */
const readAnswers = (socket: Socket, name: string, done: (fault: string | undefined) => void): void => {
  let text = ""
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1")
    for (;;) {
      const end = text.indexOf("\r\n\r\n")
      if (end < 0) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0)
      if (text.length < end + 4 + length) return
      const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? "nothing"
      const body = text.slice(end + 4, end + 4 + length)
      text = text.slice(end + 4 + length)
      done(status === "200" && body.includes(name) ? undefined : `was answered ${status} ${body.slice(0, 120)}`)
    }
  })
}

/** Sends its questions over one connection; opens a new one where it is closed. */
const caller = (target: Target, authorization: string | undefined, phase: number, ready: () => void): void => {
  const request = requestOf(target, authorization, false)
  let socket: Socket | undefined
  /** The question under way, and those that are due. */
  let current: object | undefined
  const due: Array<object> = []
  const next = (): void => {
    if (current !== undefined || socket === undefined) return
    current = due.shift()
    if (current !== undefined) socket.write(request)
  }
  const open = (): void => {
    const opened = connect(target.rpcPort, "127.0.0.1", () => {
      socket = opened
      ready()
      next()
    })
    opened.setNoDelay()
    opened.on("error", () => undefined)
    opened.on("close", () => {
      socket = undefined
      if (over) return
      complain("the caller was disconnected")
      if (current !== undefined) waiting.delete(current)
      current = undefined
      setTimeout(open, 100)
    })
    readAnswers(opened, target.name, (fault) => {
      if (fault !== undefined) complain(`the caller ${fault}`)
      if (current !== undefined) answered(current)
      current = undefined
      next()
    })
  }
  open()
  every(CALL_INTERVAL, (time) => {
    due.push(asked(calls, time))
    next()
  }, performance.now() + phase)
}

/** Sends one question over a connection of its own. */
const newCaller = (target: Target, authorization: string | undefined): void => {
  const request = requestOf(target, authorization, true)
  every(NEW_CALL_INTERVAL, (due) => {
    const key = asked(newCalls, due)
    const socket = connect(target.rpcPort, "127.0.0.1", () => void socket.write(request))
    let heard = false
    socket.on("error", () => undefined)
    socket.on("close", () => {
      waiting.delete(key)
      if (!heard && !over) complain("a new caller was disconnected without an answer")
    })
    readAnswers(socket, target.name, (fault) => {
      heard = true
      if (fault !== undefined) complain(`a new caller ${fault}`)
      answered(key)
      socket.destroy()
    })
  })
}

const observed = (): Observed => {
  const now = performance.now()
  for (const { due, into } of waiting.values()) into.push(now - due)
  waiting.clear()
  return { type: "observed", pings, calls, newCalls, complaints: [...complaints] }
}

const tell = (message: Observed | { readonly type: "listening"; readonly port: number } | { readonly type: "ready" }) =>
  process.send?.(message)

/** Honest parties that are not connected yet: peers of both kinds and callers. */
let missing = INBOUND + 1 + CALLERS
const arrived = (): void => {
  missing -= 1
  if (missing === 0) tell({ type: "ready" })
}

const calledBack = once(arrived)
const server = createServer((socket) => {
  honestPeer(socket, { name: "the peer that the node called", interval: OUTBOUND_INTERVAL }, calledBack)
  socket.write(encodeMessage(magic, hello(0)))
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  tell({ type: "listening", port: typeof address === "object" && address !== null ? address.port : 0 })
})

process.on("message", (order: ProberOrder) => {
  if (order.type === "begin") {
    const { authorization, target } = order
    for (let i = 0; i < INBOUND; i++) {
      const socket = connect({ port: target.port, host: "127.0.0.1", localAddress: `127.77.0.${i + 1}` })
      socket.once("connect", () => void socket.write(encodeMessage(magic, hello(0))))
      const phase = i * INBOUND_INTERVAL / INBOUND
      honestPeer(socket, { name: "a peer that called", interval: INBOUND_INTERVAL, phase }, arrived)
    }
    for (let i = 0; i < CALLERS; i++) caller(target, authorization, i * CALL_INTERVAL / CALLERS, once(arrived))
    newCaller(target, authorization)
  } else if (order.type === "measure") {
    for (const list of [pings, calls, newCalls]) list.length = 0
    complaints.clear()
    waiting.clear()
    measuring = true
  } else {
    tell(observed())
    measuring = false
    over = true
    // main.ts ends this process once it has read that.
  }
})
process.on("disconnect", () => process.exit())
