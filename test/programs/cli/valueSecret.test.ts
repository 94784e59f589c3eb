import { assert, describe, it } from "@effect/vitest"
import { holdsSecret } from "../../../src/programs/cli/valueSecret.ts"
import { KEYS, PHRASE } from "../../support/exampleSecrets.ts"

describe("holdsSecret", () => {
  it("finds keys with a right checksum, and words", () => {
    for (const key of Object.values(KEYS)) {
      assert.isTrue(holdsSecret(key), key)
      assert.isTrue(holdsSecret(`{"info":"wpkh(${key}/0/*)"}`), key)
      assert.isTrue(holdsSecret(JSON.stringify({ info: `keep\n${key}\n` })), key)
      assert.isFalse(holdsSecret(`${key.slice(0, -1)}${key.endsWith("z") ? "y" : "z"}`), key)
    }
    assert.isTrue(holdsSecret(`{"info":"${PHRASE}"}`))
    assert.isTrue(holdsSecret(JSON.stringify(PHRASE.split(" "))))
    // The example of NIP-19.
    const nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
    assert.isTrue(holdsSecret(JSON.stringify({ nostr: nsec })))
    assert.isFalse(holdsSecret(`${nsec.slice(0, -1)}4`))
    const numbered = PHRASE.split(" ").map((word, at) => `${at + 1}. ${word}`)
    for (const between of ["\n", "\t", "\r\n", "-", "_", "; "]) {
      assert.isTrue(holdsSecret(JSON.stringify({ info: PHRASE.replaceAll(" ", between) })), between)
      assert.isTrue(holdsSecret(JSON.stringify({ info: numbered.join(between) })), between)
    }
  })

  it("lets what values have pass", () => {
    const values = [
      `{"ip":"192.0.2.1","map":{"*":{"i2p":{"b32":"${"a2".repeat(26)}.b32.i2p"}}}}`,
      `{"tor":"${"a2".repeat(28)}.onion","ipfs":"Qm${"Ab3".repeat(14)}cd"}`,
      `{"ds":[[12345,8,2,"${"ab".repeat(32)}"]],"tls":[[3,1,1,"${"+Ab3".repeat(11)}="]]}`,
      `{"nostr":"npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg","pubkey":"${"7e".repeat(32)}"}`,
      `{"ssh":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl","gpg":{"fpr":"${
        "8CB9".repeat(10)
      }"}}`,
      "{\"info\":\"art music photo video game movie sport travel food fashion\"}",
      "{\"info\":\"this small shop will open every summer, and the owner can help with any tool that people bring there\"}",
      "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"
    ]
    for (const value of values) assert.isFalse(holdsSecret(value), value)
  })
})
