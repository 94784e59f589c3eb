import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { NotSynced, type ResolveFailure } from "../../src/client/errors.ts"
import * as NameRecipients from "../../src/mail/NameRecipients.ts"
import { relayConfig } from "../../src/mail/relay/RelayConfig.ts"
import * as SmtpRelay from "../../src/mail/SmtpRelay.ts"
import { NameNotFound } from "../../src/names/errors.ts"
import { directory, scenario, SHORT } from "../support/mailRelay.ts"
import { SmtpClient, testUpstream } from "../support/smtp.ts"

describe("svcd-mail with a daemon behind the tip", () => {
  scenario(
    "defers mail (451) for a name whose state is unknown, and refuses it (550) once the name is known not to exist",
    Effect.gen(function*() {
      const upstream = yield* testUpstream()
      let behind = true
      const resolve = (requested: string) =>
        Effect.suspend((): Effect.Effect<never, ResolveFailure> =>
          behind ? new NotSynced({ height: 5 }) : new NameNotFound({ requested })
        )
      const services = yield* Layer.build(
        SmtpRelay.layer(relayConfig({
          listen: { host: "127.0.0.1", port: 0 },
          upstream: { host: "127.0.0.1", port: upstream.port },
          hostname: "relay.example",
          spoolDirectory: yield* directory,
          retry: SHORT
        })).pipe(Layer.provide(NameRecipients.layer({ namespace: "id/", resolve })))
      )
      const { address } = yield* Effect.provide(SmtpRelay.SmtpRelay, services)
      const client = yield* Effect.promise(() => SmtpClient.open(address.port))
      const say = (line: string) => Effect.promise(() => client.say(line))
      yield* say("MAIL FROM:<sender@example.org>")
      assert.strictEqual((yield* say("RCPT TO:<alice@bit>")).code, 451)
      behind = false
      assert.strictEqual((yield* say("RCPT TO:<alice@bit>")).code, 550)
      yield* say("QUIT")
    })
  )
})
