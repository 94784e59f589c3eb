import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Fiber from "effect/Fiber"
import type { Socket } from "node:net"
import { SMTPServer, type SMTPServerAddress, type SMTPServerOptions, type SMTPServerSession } from "smtp-server"
import { monotonic, wallTime } from "../../base/clock.ts"
import { formatMailbox, parseMailbox } from "../../base/mailbox.ts"
import { afterDelay, cancelTimer } from "../../base/turns.ts"
import { type ClientAddress, clientAddress } from "../../http/clientAddress.ts"
import { RateLimiter } from "../../http/RateLimiter.ts"
import type { Recipients } from "../Recipients.ts"
import type { Queued } from "./deliveryState.ts"
import type { Recipient } from "./envelope.ts"
import { mailCounters } from "./mailMetrics.ts"
import { type MailIntroduction, receive, type ReceptionOutcome } from "./Reception.ts"
import { recipientOf } from "./recipientOf.ts"
import type { RelayConfig } from "./RelayConfig.ts"
import { correctReplies, HIDDEN, type Rejection, rejections, UNSUPPORTED } from "./replies.ts"
import { forwardedSender } from "./smtpTransactionOf.ts"
import type { Spool } from "./Spool.ts"
import type { Srs } from "./srs.ts"
import type { Tally } from "./Tally.ts"

export interface InboundParts {
  readonly config: RelayConfig
  readonly spool: Spool
  readonly srs: Srs
  readonly recipients: typeof Recipients.Service
  readonly tally: Tally
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>
  readonly take: (message: Queued) => void
  /** Called with the reason if a message cannot be stored. */
  readonly spoolFailed: (failure: unknown) => void
}

type Answer = (error?: Error | null) => void

interface Client {
  readonly address: ClientAddress
  /** The current message has an empty envelope sender, as bounces have. */
  isBounce: boolean
  /** By the address that the client gave, in lower case. */
  recipients: Map<string, Recipient>
  inData: boolean
}

/** Octets; RFC 5321 has 512, and extensions add to that. */
const LONGEST_COMMAND = 4_096

/** Messages per minute and client. */
const DEFAULT_RATE = 120

/** RFC 5321 4.5.3.1.3, without angle brackets. */
const LONGEST_PATH = 254

/** Defined by the extensions in the greeting (RFC 1870, 6152, 6531). */
const MAIL_PARAMETERS: ReadonlySet<string> = new Set(["SIZE", "BODY", "SMTPUTF8"])
const RCPT_PARAMETERS: ReadonlySet<string> = new Set()

/** Otherwise 555 (RFC 5321, section 4.1.1.11). */
const areKnown = (args: SMTPServerAddress["args"], known: ReadonlySet<string>): boolean =>
  args === false || Object.keys(args).every((name) => known.has(name.toUpperCase()))

/** Replaces bytes that are not UTF-8. A bounce to such an address would go elsewhere. */
const REPLACEMENT = "\ufffd"

/** Refused connections that their clients have not closed yet. */
const MOST_CLOSING = 256

/** smtp-server speaks the protocol; this class decides what is accepted, and the replies. */
export class Inbound {
  readonly server: SMTPServer
  readonly #parts: InboundParts
  readonly #rates: RateLimiter
  readonly #clients = new Map<string, Client>()
  readonly #perClient = new Map<string, number>()
  readonly #sockets = new Set<Socket>()
  #stopping = false
  #whenIdle: (() => void) | undefined

  /** Throws for an invalid key or certificate. */
  constructor(parts: InboundParts) {
    this.#parts = parts
    const { messagesPerMinute } = parts.config.limits
    this.#rates = new RateLimiter(messagesPerMinute === 0 ? DEFAULT_RATE : messagesPerMinute)
    this.server = new SMTPServer(this.#options())
    this.server.server.maxConnections = parts.config.limits.connections + MOST_CLOSING
    // Broken client connections need no action.
    this.server.on("error", (error: Error) => {
      parts.run(Effect.logDebug("mail connection failed", { reason: error.message }))
    })
    this.server.server.on("connection", (socket) => {
      this.#sockets.add(socket)
      socket.once("close", () => this.#sockets.delete(socket))
    })
  }

  get connections(): number {
    return this.#clients.size
  }

  #options(): SMTPServerOptions {
    const { hostname, limits, tls } = this.#parts.config
    return {
      name: hostname,
      heloResponse: "%s",
      size: limits.messageSize,
      maxRecipients: limits.recipients,
      maxClients: limits.connections,
      maxCommandLength: LONGEST_COMMAND,
      socketTimeout: Duration.toMillis(limits.idleTimeout),
      closeTimeout: Duration.toMillis(limits.drainTime),
      disableReverseLookup: true,
      authOptional: true,
      disabledCommands: [...UNSUPPORTED, ...HIDDEN, ...(tls === undefined ? ["STARTTLS"] : [])],
      hideSTARTTLS: tls === undefined,
      hideENHANCEDSTATUSCODES: false,
      logger: false,
      ...tls,
      onConnect: (session, answer) => this.#connect(session, answer),
      onMailFrom: (address, session, answer) => this.#mailFrom(address, session, answer),
      onRcptTo: (address, session, answer) => this.#rcptTo(address, session, answer),
      onData: (stream, session, answer) => this.#data(stream, session, answer),
      onClose: (session) => this.#close(session)
    }
  }

  #connect(session: SMTPServerSession, answer: Answer): void {
    const connection = this.#connectionOf(session.id)
    if (connection !== undefined) correctReplies(connection)
    const address = clientAddress(session.remoteAddress, session.remotePort)
    const count = (this.#perClient.get(address.key) ?? 0) + 1
    if (this.#stopping) return this.#reject(rejections.stopping(), answer)
    if (count > this.#parts.config.limits.connectionsPerClient) {
      return this.#reject(rejections.tooManyConnections(), answer)
    }
    this.#perClient.set(address.key, count)
    this.#clients.set(session.id, { address, isBounce: false, recipients: new Map(), inData: false })
    mailCounters.connections.increase()
    answer()
  }

  #close(session: SMTPServerSession): void {
    const client = this.#clients.get(session.id)
    if (client === undefined) return
    this.#clients.delete(session.id)
    const count = (this.#perClient.get(client.address.key) ?? 1) - 1
    if (count > 0) this.#perClient.set(client.address.key, count)
    else this.#perClient.delete(client.address.key)
  }

  #reject(rejection: Rejection, answer: (rejection: Rejection) => void): void {
    this.#parts.tally.count(rejection.forGood ? "refused" : "putOff")
    answer(rejection)
  }

  #mailFrom({ address, args }: SMTPServerAddress, session: SMTPServerSession, answer: Answer): void {
    const { config, spool, srs } = this.#parts
    const { limits } = config
    const client = this.#clients.get(session.id)
    if (client === undefined || this.#stopping) return this.#reject(rejections.stopping(), answer)
    client.recipients = new Map()
    client.isBounce = address === ""
    if (!areKnown(args, MAIL_PARAMETERS)) return this.#reject(rejections.unknownParameter(), answer)
    const size = args === false ? 0 : Number(args["SIZE"] ?? 0)
    if (spool.messages >= limits.spoolMessages || spool.bytes + size > limits.spoolBytes) {
      return this.#reject(rejections.spoolFull(), answer)
    }
    if (address !== "") {
      if (parseMailbox(address) === undefined || address.includes(REPLACEMENT)) {
        return this.#reject(rejections.badSender(), answer)
      }
      if (Buffer.byteLength(forwardedSender(srs, address, wallTime())) > LONGEST_PATH) {
        return this.#reject(rejections.senderTooLong(), answer)
      }
    }
    if (this.#isTooFast(client.address)) return this.#reject(rejections.tooManyMessages(), answer)
    answer()
  }

  #isTooFast(address: ClientAddress): boolean {
    if (this.#parts.config.limits.messagesPerMinute === 0 && address.loopback) return false
    return this.#rates.take(address, { count: 1, now: monotonic() }) !== undefined
  }

  #rcptTo({ address, args }: SMTPServerAddress, session: SMTPServerSession, answer: Answer): void {
    const client = this.#clients.get(session.id)
    if (client === undefined) return this.#reject(rejections.stopping(), answer)
    if (!areKnown(args, RCPT_PARAMETERS)) return this.#reject(rejections.unknownParameter(), answer)
    const { run } = this.#parts
    // A refusal is an answer, not a failure of the fiber: the log would show a stack trace for it.
    const asked = Effect.either(recipientOf(this.#parts, address, { isBounce: client.isBounce, now: wallTime() }))
    run(asked).addObserver((exit) => {
      if (exit._tag === "Failure") {
        if (!Cause.isInterruptedOnly(exit.cause)) run(Effect.logError("a label cannot be looked up", exit.cause))
        return this.#reject(rejections.lookupFailed(), answer)
      }
      if (Either.isRight(exit.value)) {
        client.recipients.set(address.toLowerCase(), exit.value.right)
        return answer()
      }
      const rejection = this.#refusalOf(exit.value.left, client)
      const { mailFrom } = session.envelope
      run(Effect.logInfo("recipient refused", {
        sender: mailFrom === false ? undefined : mailFrom.address,
        recipient: address,
        client: session.remoteAddress,
        reply: rejection.message
      }))
      this.#reject(rejection, answer)
    })
  }

  /** Disconnects a client that asks for many unknown labels, because each costs a lookup. */
  #refusalOf(rejection: Rejection, client: Client): Rejection {
    return rejection.forGood && this.#isTooFast(client.address) ? rejections.tooManyRefusals() : rejection
  }

  #data(
    stream: Parameters<typeof receive>[2],
    session: SMTPServerSession,
    answer: (error: Error | null, text?: string) => void
  ): void {
    const client = this.#clients.get(session.id)
    const introduction = client === undefined ? undefined : introductionOf(session, client)
    if (client === undefined || introduction === undefined) {
      stream.resume()
      return this.#reject(rejections.noSuchRecipient(), answer)
    }
    const { config, spool } = this.#parts
    const disconnect = (rejection: Rejection | undefined): void => this.#disconnect(session.id, rejection)
    client.inData = true
    const receiving = receive({ config, spool, disconnect }, introduction, stream)
    this.#parts.run(traced(receiving))
    void this.#store(client, receiving, answer)
  }

  /** Replies once the outcome of the storage is known. */
  async #store(
    client: Client,
    receiving: Promise<ReceptionOutcome>,
    answer: (error: Error | null, text?: string) => void
  ): Promise<void> {
    const received = await receiving
    client.inData = false
    if (received._tag === "Rejected") {
      if (received.failure !== undefined) this.#parts.spoolFailed(received.failure)
      this.#reject(received.rejection, answer)
    }
    if (received._tag === "Spooled") {
      const { bodyLength, envelope } = received.message
      this.#parts.tally.count("accepted")
      this.#parts.run(Effect.logInfo("message accepted", {
        id: envelope.id,
        sender: envelope.sender,
        recipients: envelope.recipients.map((each) => each.address),
        client: envelope.client,
        bytes: bodyLength
      }))
      mailCounters.acceptedBytes.increase(bodyLength)
      this.#parts.take(received.message)
      answer(null, `2.0.0 Queued as ${envelope.id}`)
    }
    if (this.#stopping) this.#endIdle()
  }

  #disconnect(id: string, rejection: Rejection | undefined): void {
    const connection = this.#connectionOf(id)
    if (connection === undefined) return
    if (rejection !== undefined) {
      this.#parts.tally.count("refused")
      connection.send(rejection.responseCode, rejection.message)
    }
    connection.close()
  }

  #connectionOf(id: string) {
    for (const connection of this.server.connections) if (connection.session.id === id) return connection
    return undefined
  }

  /** Stops accepting, ends idle connections, and waits for messages being received. */
  drain(milliseconds: number): Promise<void> {
    this.#stopping = true
    return new Promise((resolve) => {
      const timer = afterDelay(milliseconds, () => this.#whenIdle?.())
      this.#whenIdle = () => {
        this.#whenIdle = undefined
        cancelTimer(timer)
        for (const socket of this.#sockets) socket.destroySoon()
        const last = afterDelay(LAST_MOMENT, () => this.#destroyAll())
        this.server.server.once("close", () => cancelTimer(last))
        resolve()
      }
      this.server.close()
      this.#endIdle()
    })
  }

  #endIdle(): void {
    let busy = false
    for (const connection of this.server.connections) {
      if (this.#clients.get(connection.session.id)?.inData === true) busy = true
      else connection.send(421, rejections.stopping().message)
    }
    if (!busy) this.#whenIdle?.()
  }

  #destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/** Milliseconds, for replies on their way at shutdown. */
const LAST_MOMENT = 200

const traced = (receiving: Promise<ReceptionOutcome>): Effect.Effect<void> =>
  Effect.promise(() => receiving).pipe(
    Effect.flatMap(({ _tag }) => Effect.annotateCurrentSpan("outcome", _tag)),
    Effect.withSpan("svcd.mail.receive")
  )

const introductionOf = (session: SMTPServerSession, { recipients }: Client): MailIntroduction | undefined => {
  const { mailFrom, rcptTo } = session.envelope
  const [first, ...others] = rcptTo.flatMap(({ address }) => {
    const recipient = recipients.get(address.toLowerCase())
    return recipient === undefined ? [] : [recipient]
  })
  const sender = mailFrom === false ? undefined : mailFrom.address
  const mailbox = sender === undefined || sender === "" ? undefined : parseMailbox(sender)
  if (first === undefined || sender === undefined || (sender !== "" && mailbox === undefined)) return undefined
  return {
    sender: mailbox === undefined ? "" : formatMailbox(mailbox),
    recipients: [first, ...others],
    greeting: session.hostNameAppearsAs,
    client: session.remoteAddress,
    protocol: session.transmissionType
  }
}
