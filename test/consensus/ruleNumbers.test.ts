import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** A number of the rules has one place: `consensus/` or `protocol/`. Other folders import it. */

const SRC = fileURLToPath(new URL("../../src/", import.meta.url))

/** Numbers of the rules as code and as text: the life of a name, lengths of name, value and script element, blocks before a registration. */
const RULES = [
  /(?<![\w.$])(?:36_?000|1_?023|520|255|4_?000_?000)(?![\w.])/g,
  /(?<![\w,.])(?:36,000|1,023)(?![\w,])|\b(?:255|520|1023) bytes|\b12 blocks/g
]

/** The same numbers with another meaning. */
const OTHERS: Readonly<Record<string, string>> = {
  "network/addresses/socks5.ts": "lengths of the protocol",
  "network/wire/messages/bloom.ts": "bytes of a filter",
  "network/wire/netGroup.ts": "bytes of addresses",
  "rpc/contract/wallet/walletFile.ts": "parts of paths",
  "rpc/methods/wallet/walletFileMethods.ts": "parts of paths",
  "values/domainItems.ts": "records of DNS",
  "values/formRows.ts": "records of DNS",
  "values/hosts.ts": "bytes of addresses",
  "values/opaqueData.ts": "names of DNS",
  "mail/relay/trace.ts": "a line of a header",
  "wallet/keys/hd.ts": "depths of keys",
  "wallet/keys/keyExpression.ts": "steps of paths"
}

const withoutComments = (text: string): string => text.replaceAll(/\/\*[^]*?\*\/|(?<![:"'`])\/\/.*$/gm, "")

/** In `dns/`, 255 is the size of names, of strings and of fields with one byte. */
const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !/^(?:consensus|protocol|dns)\//.test(file))

const found = new Map(sources.flatMap((file) => {
  const text = withoutComments(readFileSync(join(SRC, file), "utf8"))
  const numbers = RULES.flatMap((rule) => text.match(rule) ?? [])
  return numbers.length === 0 ? [] : [[file, numbers] as const]
}))

describe("the numbers of the rules", () => {
  it("are imported from consensus and protocol", () => {
    assert.deepStrictEqual([...found].filter(([file]) => !Object.hasOwn(OTHERS, file)), [])
  })

  it.each(Object.keys(OTHERS))("has a reason to except %s", (file) => assert.isTrue(found.has(file)))
})
