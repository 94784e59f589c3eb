import { assert, describe, it } from "@effect/vitest"
import { hideSecrets, holdsSecret } from "../../src/base/hideSecrets.ts"
import { quoted } from "../../src/base/safeText.ts"

/** Of no coin: an example of BIP 39, and keys of test vectors. */
const PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"
const KEYS = {
  "a key": "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ",
  "a key of compressed form": "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ",
  "a key of a test network": "cVpF924EspNh8KjYsfhgY96mmxvT6DgdWiTYMtMjuM74hJaU5psW",
  "a key of Namecoin": "TdcADnsxAwAdLh9BraXfooNcFY3v41NMSHW9jRqtSBvRC8kv96B9",
  "an extended key":
    "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
  "an extended key of a test network":
    "tprv8ZgxMBicQKsPeDgjzdC36fs6bMjGApWDNLR9erAXMs5skhMv36j9MV5ecvfavji5khqjWaWSFhN3YcCUUdiKH6isR4Pwy3U5y5egddBr16m"
}
const KEY = "(not shown: it may be a private key)"
const WORDS = "(not shown: these may be recovery words)"

describe("hideSecrets", () => {
  for (const [what, key] of Object.entries(KEYS)) {
    it(`hides ${what}, with its quotes`, () => {
      assert.strictEqual(
        hideSecrets(`-network: ${quoted(key)} is not one of mainnet`, []),
        `-network: ${KEY} is not one of mainnet`
      )
      assert.strictEqual(hideSecrets(`-${key}: unknown flag`, []), `-${KEY}: unknown flag`)
      assert.strictEqual(
        hideSecrets(`cookie file /home/me/${key} is not there`, []),
        `cookie file /home/me/${KEY} is not there`
      )
      assert.strictEqual(hideSecrets(`(not 51, for '${key}')`, []), `(not 51, for '${KEY}')`)
    })
  }

  for (
    const [what, words] of Object.entries({
      "twelve words": PHRASE,
      "twenty-four": `${PHRASE} ${PHRASE}`,
      "words in capitals": PHRASE.toUpperCase(),
      "words with commas": PHRASE.replaceAll(" ", ", "),
      "words with two mistakes": PHRASE.replace("winner", "winer").replace("useful", "usefull"),
      "words of which a quote has eleven": `${PHRASE.replace("yellow", "").trim()} ${"cinnamon ".repeat(4)}cinnamon`
    })
  ) {
    it(`hides ${what}`, () => {
      const text = hideSecrets(`-rpcaddr: ${quoted(words)} is not an address of the form host:port`, [])
      assert.match(
        text,
        /^-rpcaddr: "\(not shown: these may be recovery words\) ?(?:\w{1,2})?(?:…|\\u2026)?" is not an address of the form host:port$/
      )
    })
  }

  it("hides a word alone, where the arguments are a phrase", () => {
    const text = `svcd-cli: -rpcaddr: "legal" is not an address of the form host:port`
    assert.strictEqual(
      hideSecrets(text, ["-rpcaddr", ...PHRASE.split(" ")]),
      text.replace("\"legal\"", "(not shown: it may be a recovery word)")
    )
    assert.strictEqual(hideSecrets(text, ["-rpcaddr", "legal"]), text)
  })

  it("leaves the words around a phrase", () => {
    assert.strictEqual(
      hideSecrets(`error: ${PHRASE}: is not a flag\nsee -help`, []),
      `error: ${WORDS}: is not a flag\nsee -help`
    )
  })

  it("leaves txids, hashes, addresses, names and sentences", () => {
    const texts = [
      `No such mempool or blockchain transaction: ${"ab".repeat(32)}`,
      "Invalid address N1KHAL5C1CRzy58NdJwp1tbLze3XrkFxx9",
      `Invalid address nc1${"q".repeat(39)}, ncrt1p${"q".repeat(58)}`,
      `name never existed: 'd/${"a".repeat(51)}'`,
      `"id/${"a".repeat(51)}" is free`,
      "Give them with -rpcuser and -rpcpassword, SVCD_RPC_USER and SVCD_RPC_PASSWORD, or svcd.conf in -datadir",
      "this small shop will open every summer, and the owner can help with any tool that people bring there",
      "the words of the wallet were never shown: without them or a backup, a lost disk loses its coins and names",
      `the daemon at ${"a".repeat(56)}.onion:8336 does not accept the credentials`,
      `-addpeer: "${"a2".repeat(26)}.b32.i2p" is not an address of the form host:port`
    ]
    for (const text of texts) assert.strictEqual(hideSecrets(text, ["-stdin", "getblock"]), text)
  })

  it("takes little time for a long text", () => {
    const long = "a".repeat(50_000) + " ".repeat(50_000) + "a, ".repeat(20_000)
    assert.strictEqual(hideSecrets(long, []), long)
  })
})

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
