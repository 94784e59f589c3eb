import { assert, describe, it } from "@effect/vitest"
import { quoted } from "../../../src/base/safeText.ts"
import { hideSecrets } from "../../../src/programs/tool/hideSecrets.ts"
import { KEYS, PHRASE } from "../../support/exampleSecrets.ts"

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
      "the seed phrase of the wallet was never shown: without it or a backup, a disk failure loses its coins and names",
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
