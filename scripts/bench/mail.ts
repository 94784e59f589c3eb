// Messages a second through the mail relay: clients → svcd's relay (a process of its own, its spool on the disk) → a
// local upstream server. In the same run it measures the disk: files of the same size, each written and synced alone.

import { Effect, Layer, Logger } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { connect, createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Recipients } from "../../src/mail/Recipients.ts"
import { relayConfig } from "../../src/mail/relay/RelayConfig.ts"
import * as SmtpRelay from "../../src/mail/SmtpRelay.ts"

const MESSAGE_SIZE = 10_000
const CLIENTS = 16
const SYNCED_FILES = 200

const MESSAGE = Buffer.from(
  `From: a@b.example\r\nMessage-ID: <x@b.example>\r\n\r\n${
    "a line of this message, as long as they are\r\n".repeat(300)
  }`
    .slice(0, MESSAGE_SIZE - 2) + "\r\n"
)

/** Calls back for each line that ends in CR LF; other text is ignored. */
const eachLine = (socket: Socket, onLine: (line: string) => void): void => {
  let pending = ""
  socket.setEncoding("latin1").on("data", (text: string) => {
    const lines = (pending + text).split("\r\n")
    pending = lines.pop() ?? ""
    for (const line of lines) onLine(line)
  })
}

/** A server that accepts every message. */
const sink = async (onMessage: () => void): Promise<Server> => {
  const server = createServer((socket) => {
    let inData = false
    socket.on("error", () => undefined).setNoDelay(true)
    eachLine(socket, (line) => {
      if (inData) {
        if (line !== ".") return
        inData = false
        onMessage()
        return void socket.write("250 2.0.0 taken\r\n")
      }
      if (line === "DATA") inData = true
      const greeted = line.startsWith("EHLO") ? "250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n" : "250 2.0.0 ok\r\n"
      socket.write(line === "DATA" ? "354 go on\r\n" : greeted)
    })
    socket.write("220 sink\r\n")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return server
}

const portOf = (server: Server): number => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** Sends `count` messages one after the other on one connection. Resolves when the last one is answered with 250. */
const client = (port: number, count: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1")
    socket.setNoDelay(true).on("error", reject)
    const steps = [
      "MAIL FROM:<a@b.example>\r\n",
      "RCPT TO:<alice@bit>\r\n",
      "DATA\r\n",
      Buffer.concat([MESSAGE, Buffer.from(".\r\n")])
    ]
    let said = 0
    eachLine(socket, (line) => {
      if (line.charAt(3) === "-") return
      if (!/^[23]/.test(line)) return reject(new Error(line))
      // The greeting, then the answer to EHLO, then four answers a message.
      if (said === 0) socket.write("EHLO bench\r\n")
      else if (said <= count * steps.length) socket.write(steps[(said - 1) % steps.length] ?? "")
      else {
        socket.end("QUIT\r\n")
        resolve()
      }
      said += 1
    })
  })

/** Runs the relay; returns its port. */
const relay = (spoolDirectory: string, upstreamPort: number): void => {
  const recipients = Layer.succeed(Recipients, {
    forwardingOf: (label) => Effect.succeed({ email: `${label}@destination.example`, backup: [] })
  })
  const layer = SmtpRelay.layer(relayConfig({
    listen: { host: "127.0.0.1", port: 0 },
    upstream: { host: "127.0.0.1", port: upstreamPort },
    hostname: "relay.example",
    spoolDirectory
  }))
  const program = Effect.gen(function*() {
    const { address } = yield* SmtpRelay.SmtpRelay
    process.stdout.write(`port ${address.port}.\n`)
    return yield* Effect.never
  })
  Effect.runFork(program.pipe(
    Effect.provide(
      layer.pipe(Layer.provide(recipients), Layer.provideMerge(Logger.replace(Logger.defaultLogger, Logger.none)))
    )
  ))
}

const startRelay = (spool: string, upstreamPort: number): Promise<{ child: ChildProcess; port: number }> =>
  new Promise((resolve, reject) => {
    const args = [...process.execArgv, fileURLToPath(import.meta.url), "relay", spool, String(upstreamPort)]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
    child.once("exit", () => reject(new Error("the relay ended")))
    child.stdout.setEncoding("utf8").once("data", (text: string) => {
      resolve({ child, port: Number(/port (\d+)/.exec(text)?.[1]) })
    })
  })

/** Files a second that are written and synced one after the other. */
const syncedFiles = (directory: string): number => {
  const from = performance.now()
  for (let i = 0; i < SYNCED_FILES; i++) {
    const file = openSync(join(directory, `${i}.sync`), "w")
    writeSync(file, MESSAGE)
    fsyncSync(file)
    closeSync(file)
  }
  return SYNCED_FILES / ((performance.now() - from) / 1_000)
}

/** Sends `messages` messages through the relay; returns how many a second were accepted, and how many arrived. */
export const benchMail = async (messages: number) => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
  let arrived = 0
  let whenAll: (() => void) | undefined
  const upstream = await sink(() => {
    arrived += 1
    if (arrived === messages) whenAll?.()
  })
  try {
    const baseline = syncedFiles(directory)
    const { child, port } = await startRelay(join(directory, "spool"), portOf(upstream))
    const from = performance.now()
    const all = new Promise<void>((resolve) => void (whenAll = resolve))
    await Promise.all(Array.from({ length: CLIENTS }, () => client(port, messages / CLIENTS)))
    const taken = performance.now()
    await all
    const delivered = performance.now()
    child.removeAllListeners("exit")
    child.kill()
    const perSecond = (until: number): number => Math.round(messages / ((until - from) / 1_000))
    return {
      what: "messages of 10 kB through the mail relay, spool synced",
      messages,
      clients: CLIENTS,
      takenPerSecond: perSecond(taken),
      deliveredPerSecond: perSecond(delivered),
      syncedFilesPerSecond: Math.round(baseline)
    }
  } finally {
    upstream.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

const [, script = "", role, spool = "", upstreamPort = ""] = process.argv
if (script === fileURLToPath(import.meta.url)) {
  if (role === "relay") relay(spool, Number(upstreamPort))
  else {
    console.log(JSON.stringify(await benchMail(3_200)))
    process.exit(0)
  }
}
