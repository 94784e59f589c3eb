import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Readable } from "node:stream"
import SMTPConnection, { type SMTPConnectionOptions } from "nodemailer/lib/smtp-connection"
import { isLoopback } from "../../base/addresses.ts"
import { needsUtf8 } from "../../base/mailbox.ts"
import { afterDelay, cancelTimer } from "../../base/turns.ts"
import { type DeliveryOutcome, outcomeOfFailure, replyOf, type SmtpClientFailure, unreachable } from "./outcome.ts"
import { type UpstreamConfig, upstreamTlsOf } from "./RelayConfig.ts"

export class NoConnection extends Data.TaggedError("NoConnection")<{ readonly outcome: DeliveryOutcome }> {}

export interface SmtpTransaction {
  readonly sender: string
  readonly recipient: string
  /** Bytes, including the relay's own headers. */
  readonly size: number
  readonly eightBit: boolean
  /** Reads the disk only with the stream, if the server wants the message. */
  readonly body: () => Readable
}

/** Bytes; a longer reply ends the connection. */
const LONGEST_REPLY = 65_536

/** Milliseconds to close after this relay has closed its side. */
const CLOSE_TIMEOUT = 1_000

/** A session that is greeted, encrypted and logged in. */
export class UpstreamConnection {
  readonly #client: SMTPConnection
  readonly #utf8: boolean
  #sent = 0
  #usable = true

  constructor(client: SMTPConnection, utf8: boolean) {
    this.#client = client
    this.#utf8 = utf8
    client.once("end", () => void (this.#usable = false))
  }

  get sent(): number {
    return this.#sent
  }

  get usable(): boolean {
    return this.#usable && !this.#client.destroyed
  }

  /** An interruption ends the connection. Never fails. */
  send(transaction: SmtpTransaction): Effect.Effect<DeliveryOutcome> {
    return Effect.async<DeliveryOutcome>((resume) => {
      const { eightBit, recipient, sender, size } = transaction
      this.#sent += 1
      if (!this.#utf8 && (needsUtf8(sender) || needsUtf8(recipient))) {
        const text = "the upstream server does not take addresses beyond ASCII (SMTPUTF8)"
        return resume(Effect.succeed({ _tag: "Refused", reply: { code: 0, status: "5.6.7", text } }))
      }
      const body = transaction.body()
      let whole = false
      body.once("end", () => void (whole = true))
      const envelope = { from: sender, to: [recipient], size, use8BitMime: eightBit }
      this.#client.send(envelope, body, (error, info) => {
        body.destroy()
        if (error === null) {
          return resume(Effect.succeed({ _tag: "Delivered", reply: replyOf(250, info.response) }))
        }
        // A cut-off message must not be terminated: the server would take it for a complete one.
        if (error.code === "ESTREAM") this.close()
        resume(Effect.as(this.#recover, outcomeOfFailure(error, whole)))
      })
      return Effect.sync(() => {
        body.destroy()
        this.close()
      })
    })
  }

  /** Resets the session after a failed transaction, or closes the connection. */
  get #recover(): Effect.Effect<void> {
    return Effect.async((resume) => {
      if (!this.usable) return resume(Effect.void)
      this.#client.reset((error) => {
        if (error !== null) this.close()
        resume(Effect.void)
      })
      return Effect.sync(() => this.close())
    })
  }

  /** Closes the connection if no reply comes within `CLOSE_TIMEOUT`. */
  quit(): void {
    if (!this.usable) return this.close()
    this.#usable = false
    const timer = afterDelay(CLOSE_TIMEOUT, () => this.#client.close())
    this.#client.once("end", () => cancelTimer(timer))
    this.#client.quit()
  }

  close(): void {
    this.#usable = false
    this.#client.close()
  }
}

const clientOptions = (config: UpstreamConfig): SMTPConnectionOptions => {
  const mode = upstreamTlsOf(config)
  const { host, port } = config.upstream
  const { answerTimeout, connectTimeout } = config.limits
  return {
    host,
    port,
    name: config.hostname,
    secure: mode === "implicit",
    requireTLS: mode === "required",
    opportunisticTLS: mode === "opportunistic",
    tls: {
      // Opportunistic encryption protects only against passive listeners; a forged server would not offer STARTTLS.
      rejectUnauthorized: mode !== "opportunistic",
      ...(config.upstreamCa === undefined ? {} : { ca: config.upstreamCa })
    },
    connectionTimeout: Duration.toMillis(connectTimeout),
    greetingTimeout: Duration.toMillis(connectTimeout),
    dnsTimeout: Duration.toMillis(connectTimeout),
    socketTimeout: Duration.toMillis(answerTimeout),
    socketCloseTimeout: CLOSE_TIMEOUT,
    maxResponseSize: LONGEST_REPLY,
    logger: false
  }
}

/** An interruption closes the connection. */
export const connectUpstream = (config: UpstreamConfig): Effect.Effect<UpstreamConnection, NoConnection> =>
  Effect.async((resume) => {
    const client = new SMTPConnection(clientOptions(config))
    const failed = (error: SmtpClientFailure): void => {
      client.close()
      resume(new NoConnection({ outcome: unreachable(error) }))
    }
    // Stays: an error of an idle connection has no other handler.
    client.on("error", failed)
    client.connect((error) => {
      if (error !== undefined) return failed(error)
      const utf8 = typeof client.lastServerResponse === "string" && /[ -]SMTPUTF8\b/i.test(client.lastServerResponse)
      const ready = (): void => resume(Effect.succeed(new UpstreamConnection(client, utf8)))
      const { credentials } = config
      if (credentials === undefined) return ready()
      if (!client.secure && !isLoopback(config.upstream.host)) {
        return failed({ message: "the upstream server does not encrypt; credentials are not sent" })
      }
      const auth = { user: credentials.user, pass: Redacted.value(credentials.password) }
      client.login({ credentials: auth }, (refused) => refused === null ? ready() : failed(refused))
    })
    return Effect.sync(() => client.close())
  })
