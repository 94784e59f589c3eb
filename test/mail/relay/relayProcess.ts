import { Duration, Effect, Layer, Logger } from "effect"
import { Recipients } from "../../../src/mail/Recipients.ts"
import { relayConfig } from "../../../src/mail/relay/RelayConfig.ts"
import * as SmtpRelay from "../../../src/mail/SmtpRelay.ts"

/** A relay in a process of its own, which forwards every label to itself at destination.example. Prints its port. */

const [, , spoolDirectory = "", upstreamPort = ""] = process.argv

const recipients = Layer.succeed(Recipients, {
  forwardingOf: (label) => Effect.succeed({ email: `${label}@destination.example`, backup: [] })
})

const relay = SmtpRelay.layer(relayConfig({
  listen: { host: "127.0.0.1", port: 0 },
  upstream: { host: "127.0.0.1", port: Number(upstreamPort) },
  hostname: "relay.example",
  spoolDirectory,
  retry: { pauses: [Duration.millis(300)] }
}))

const logger = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ message }) => process.stderr.write(`${String(message)}\n`))
)

const program = Effect.gen(function*() {
  const { address } = yield* SmtpRelay.SmtpRelay
  process.stdout.write(`port ${address.port}.\n`)
  return yield* Effect.never
})

Effect.runFork(program.pipe(
  Effect.provide(relay.pipe(Layer.provide(recipients), Layer.provideMerge(logger)))
))
