import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { createHmac } from "node:crypto"
import { keyOfSecret } from "../../src/config/webhookKinds.ts"
import { signatureOf, signedHeaders } from "../../src/webhooks/signature.ts"

/** The example of the documentation of Standard Webhooks libraries: secret, id, timestamp, body and signature. */
const EXAMPLE = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: 1614265330,
  body: "{\"test\": 2432232314}",
  signature: "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
}

const keyOf = (secret: string): Uint8Array => keyOfSecret(Redacted.make(secret)) ?? assert.fail("no key")

describe("signatures of Standard Webhooks", () => {
  it("are those of its example", () => {
    assert.strictEqual(signatureOf(EXAMPLE, keyOf(EXAMPLE.secret)), EXAMPLE.signature)
  })

  it("cover id, time and body, in the headers that libraries read", () => {
    const message = { id: "msg_a_00000001_0000000000000000", timestamp: 1_700_000_000, body: "{\"ü\":1}" }
    const key = keyOf("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX")
    const byHand = createHmac("sha256", Uint8Array.from({ length: 24 }, (_, i) => i))
      .update(Buffer.from("msg_a_00000001_0000000000000000.1700000000.{\"ü\":1}", "utf8"))
      .digest("base64")
    assert.deepStrictEqual(signedHeaders(message, key), {
      "webhook-id": message.id,
      "webhook-timestamp": "1700000000",
      "webhook-signature": `v1,${byHand}`
    })
  })
})
