import { Effect } from "effect"
import { connect, createServer, type Server, type Socket } from "node:net"
import { eventually } from "./eventually.ts"

/** Both ends of SMTP for tests: a scripted upstream server, and a client that sends any text. */

/** A message that reached the upstream server. */
export interface Arrived {
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** The exact bytes as latin1 text, without the dots that SMTP adds. */
  readonly text: string
  /** The text after the sender's address. */
  readonly parameters: string
}

/** What the server does instead of accepting: an answer, or `hang` for none, or `close`. */
export type Misbehaviour = string | undefined

export interface UpstreamBehaviour {
  greeting?: (session: number) => Misbehaviour
  mail?: (from: string) => Misbehaviour
  rcpt?: (to: string) => Misbehaviour
  /** Called when DATA begins. */
  data?: () => Misbehaviour
  /** Called when a message is complete; the server accepts it only where this gives no answer of its own. */
  message?: (message: Arrived) => Misbehaviour
  features?: ReadonlyArray<string>
  /** User and password, where the server requires them. */
  login?: readonly [string, string]
}

const splitLines = (socket: Socket, onLine: (line: string) => void): void => {
  let pending = ""
  socket.setEncoding("latin1")
  socket.on("data", (text: string) => {
    pending += text
    const lines = pending.split("\r\n")
    pending = lines.pop() ?? ""
    for (const line of lines) onLine(line)
  })
}

/** An upstream server on this machine. `behaviour` may be changed while it runs. */
export class TestUpstream {
  readonly messages: Array<Arrived> = []
  readonly commands: Array<string> = []
  readonly logins: Array<string> = []
  sessions = 0
  behaviour: UpstreamBehaviour
  port = 0
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #whenArrived: (() => void) | undefined

  constructor(behaviour: UpstreamBehaviour = {}) {
    this.behaviour = behaviour
  }

  listen(port = 0): Promise<void> {
    return new Promise((resolve, reject) => {
      const server = createServer((socket) => this.#serve(socket))
      this.#server = server
      server.once("error", reject)
      server.listen(port, "127.0.0.1", () => {
        const address = server.address()
        this.port = typeof address === "object" && address !== null ? address.port : 0
        resolve()
      })
    })
  }

  stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    return new Promise((resolve) => this.#server === undefined ? resolve() : this.#server.close(() => resolve()))
  }

  /** Waits until so many messages have arrived. */
  async received(count: number): Promise<ReadonlyArray<Arrived>> {
    while (this.messages.length < count) await new Promise<void>((resolve) => void (this.#whenArrived = resolve))
    return this.messages
  }

  /** Waits for a command with this beginning. */
  async heard(prefix: string): Promise<void> {
    const isHeard = (): boolean => this.commands.some((command) => command.startsWith(prefix))
    await Effect.runPromise(eventually(prefix, isHeard))
  }

  #serve(socket: Socket): void {
    this.sessions += 1
    this.#sockets.add(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => this.#sockets.delete(socket))
    const say = (text: string): void => void socket.write(`${text}\r\n`, "latin1")
    /** Answers as usual, or as the test wants. Returns whether it was as usual. */
    const answer = (instead: Misbehaviour, usual: string): boolean => {
      if (instead === "close") socket.destroy()
      else if (instead !== "hang") say(instead ?? usual)
      return instead === undefined
    }
    let from = ""
    let parameters = ""
    let to: Array<string> = []
    let lines: Array<string> | undefined
    splitLines(socket, (line) => {
      const { behaviour } = this
      if (lines !== undefined) {
        if (line !== ".") return void lines.push(line.startsWith(".") ? line.slice(1) : line)
        const message = { from, to, parameters, text: lines.map((each) => `${each}\r\n`).join("") }
        lines = undefined
        if (!answer(behaviour.message?.(message), "250 2.0.0 taken")) return
        this.messages.push(message)
        return this.#whenArrived?.()
      }
      this.commands.push(line)
      const verb = line.split(" ")[0]?.toUpperCase()
      const address = /<(.*)>/.exec(line)?.[1] ?? ""
      switch (verb) {
        case "EHLO":
          return say(
            [
              "250-upstream.test",
              ...behaviour.features ?? ["8BITMIME", "SMTPUTF8", "PIPELINING", "SIZE 9999999"],
              "AUTH PLAIN"
            ].map((each, i, all) => i === 0 ? each : `250${i === all.length - 1 ? " " : "-"}${each}`).join("\r\n")
          )
        case "AUTH": {
          const [, user = "", password = ""] = Buffer.from(line.split(" ")[2] ?? "", "base64").toString().split("\0")
          this.logins.push(`${user}:${password}`)
          const good = behaviour.login !== undefined && behaviour.login[0] === user && behaviour.login[1] === password
          return say(good ? "235 2.7.0 welcome" : "535 5.7.8 no")
        }
        case "MAIL":
          from = Buffer.from(address, "latin1").toString("utf8")
          parameters = line.slice(line.indexOf(">") + 1).trim()
          to = []
          return void answer(behaviour.mail?.(from), "250 2.1.0 ok")
        case "RCPT": {
          const recipient = Buffer.from(address, "latin1").toString("utf8")
          if (answer(behaviour.rcpt?.(recipient), "250 2.1.5 ok")) to.push(recipient)
          return
        }
        case "DATA":
          if (to.length === 0) return say("503 5.5.1 no recipients")
          if (answer(behaviour.data?.(), "354 go on")) lines = []
          return
        case "RSET":
          to = []
          return say("250 2.0.0 ok")
        case "QUIT":
          say("221 2.0.0 bye")
          return void socket.end()
        default:
          return say("502 5.5.1 unknown")
      }
    })
    answer(this.behaviour.greeting?.(this.sessions), "220 upstream.test ESMTP")
  }
}

/** An upstream server for as long as the scope is open. */
export const testUpstream = (behaviour: UpstreamBehaviour = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const upstream = new TestUpstream(behaviour)
      await upstream.listen()
      return upstream
    }),
    (upstream) => Effect.promise(() => upstream.stop())
  )

export interface SmtpReply {
  /** 0: the connection was closed instead. */
  readonly code: number
  readonly text: string
}

/** A client that sends the text that a test gives it. */
export class SmtpClient {
  readonly socket: Socket
  greeting: SmtpReply = { code: 0, text: "" }
  readonly #replies: Array<SmtpReply> = []
  #waiting: ((reply: SmtpReply) => void) | undefined
  #closed = false

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1")
    let lines: Array<string> = []
    splitLines(this.socket, (line) => {
      lines.push(line)
      if (line.charAt(3) === "-") return
      this.#give({ code: Number(line.slice(0, 3)), text: lines.join("\n") })
      lines = []
    })
    this.socket.on("error", () => undefined)
    this.socket.on("close", () => {
      this.#closed = true
      this.#give({ code: 0, text: "closed" })
    })
  }

  static async open(port: number, hello = "EHLO client.test"): Promise<SmtpClient> {
    const client = new SmtpClient(port)
    client.greeting = await client.reply()
    if (client.greeting.code === 220) await client.say(hello)
    return client
  }

  #give(reply: SmtpReply): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) this.#replies.push(reply)
    else waiting(reply)
  }

  reply(): Promise<SmtpReply> {
    const next = this.#replies.shift()
    if (next !== undefined) return Promise.resolve(next)
    if (this.#closed) return Promise.resolve({ code: 0, text: "closed" })
    return new Promise((resolve) => void (this.#waiting = resolve))
  }

  /** `line` as latin1 or, where it has other characters, as UTF-8. */
  say(line: string): Promise<SmtpReply> {
    this.socket.write(Buffer.from(`${line}\r\n`, "utf8"))
    return this.reply()
  }

  /** Sends a text (latin1) after DATA; adds the dots and the end. */
  async data(text: string): Promise<SmtpReply> {
    const go = await this.say("DATA")
    if (go.code !== 354) return go
    this.socket.write(Buffer.from(`${text.replace(/^\./, "..").replaceAll("\r\n.", "\r\n..")}.\r\n`, "latin1"))
    return this.reply()
  }

  /** Sends one message; returns the answer to the first command that was refused, or to the message. */
  async send(from: string, to: ReadonlyArray<string>, text: string, parameters = ""): Promise<SmtpReply> {
    for (const command of [`MAIL FROM:<${from}>${parameters}`, ...to.map((each) => `RCPT TO:<${each}>`)]) {
      const reply = await this.say(command)
      if (reply.code >= 400 || reply.code === 0) return reply
    }
    return this.data(text)
  }

  end(): void {
    this.socket.end()
  }
}

/** Sends one message on a connection of its own. */
export const sendMail = async (
  port: number,
  mail: {
    readonly from?: string
    readonly to: ReadonlyArray<string>
    readonly text: string
    readonly parameters?: string
  }
): Promise<SmtpReply> => {
  const client = await SmtpClient.open(port)
  try {
    return await client.send(mail.from ?? "sender@example.org", mail.to, mail.text, mail.parameters)
  } finally {
    client.end()
  }
}
