import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { encodeAddress } from "../../src/protocol/address.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { networks } from "../../src/protocol/networks.ts"
import { addressLink, blockLink, blocksLink, namesLink, poolLink, transactionLink } from "../../src/web/links.ts"
import { placeMeant } from "../../src/web/placeMeant.ts"
import { isPagePath, methodsShown, NAME_ORDERS, POOL_ORDERS, type Wanted, wanted } from "../../src/web/routes.ts"

const asked = (target: string): Wanted => {
  const url = new URL(target, "http://node/")
  return wanted({ path: url.pathname, query: url.searchParams })
}

const HASH = Uint8Array.from({ length: 32 }, (_, at) => at)
const hash = FastCheck.uint8Array({ minLength: 32, maxLength: 32 })
const page = FastCheck.integer({ min: 1, max: 1_000 })
const height = FastCheck.integer({ min: 0, max: 999_999_999 })

describe("wanted", () => {
  it.each<[string, Wanted]>([
    ["/", { _tag: "Overview" }],
    ["/blocks", { _tag: "Blocks", from: undefined }],
    ["/blocks?from=7", { _tag: "Blocks", from: 7 }],
    ["/block/0", { _tag: "Block", place: 0, page: 1 }],
    [`/block/${displayHash(HASH)}?page=2`, { _tag: "Block", place: HASH, page: 2 }],
    [`/tx/${displayHash(HASH).toUpperCase()}`, { _tag: "Transaction", txid: HASH, block: undefined, page: 1 }],
    [`/tx/${displayHash(HASH)}?block=5`, { _tag: "Transaction", txid: HASH, block: 5, page: 1 }],
    ["/address/N1abc", { _tag: "Address", text: "N1abc", expired: false, coins: false, page: 1 }],
    ["/address/N1abc?after=1.owner.00", {
      _tag: "Address",
      text: "N1abc",
      expired: false,
      coins: false,
      page: 1,
      after: "1.owner.00"
    }],
    ["/address/N1abc?show=coins&page=3", { _tag: "Address", text: "N1abc", expired: false, coins: true, page: 3 }],
    ["/names", { _tag: "Names", list: { order: "name", prefix: "", expired: false } }],
    ["/names?order=changed&prefix=d/&expired=1&after=x", {
      _tag: "Names",
      list: { order: "changed", prefix: "d/", expired: true, after: "x" }
    }],
    ["/mempool", { _tag: "Pool", list: { order: "newest", names: false, page: 1 } }],
    ["/mempool?order=rate&names=1&page=3", { _tag: "Pool", list: { order: "rate", names: true, page: 3 } }],
    ["/activity", { _tag: "Activity" }]
  ])("reads %s", (target, expected) => {
    assert.deepEqual(asked(target), expected)
  })

  it.each([
    "/block/-1",
    "/block/12345678901",
    "/block/abc",
    "/block/5?page=0",
    "/tx/5",
    `/tx/${displayHash(HASH)}?block=x`,
    `/tx/${displayHash(HASH)}?page=1001`,
    "/blocks?from=x",
    "/names?order=size",
    "/mempool?order=size",
    "/mempool?page=0",
    `/names?prefix=${"x".repeat(256)}`
  ])("says what is wrong with %s", (target) => {
    assert.strictEqual(asked(target)._tag, "Wrong")
  })

  it.each([
    ["/", true],
    ["/blocks", true],
    ["/mempool", true],
    ["/mempool/", false],
    ["/block/1", true],
    ["/block/", false],
    ["/block/1/2", false],
    [
      "/blocks/",
      false
    ],
    ["/tx", false],
    [`/tx/${"a".repeat(201)}`, false],
    ["/rest/name/d", false],
    ["", false]
  ])(
    "knows whether %s is a page",
    (path, expected) => {
      assert.strictEqual(isPagePath(path), expected)
    }
  )
})

describe("methodsShown", () => {
  it.each([
    ["/", ["estimatesmartfee"]],
    ["/names", []],
    ["/address/x", []],
    ["/blocks", ["getblock", "getblockheader"]],
    ["/block/5", ["getblock", "getblockheader"]],
    ["/tx/aa", ["getrawtransaction"]],
    ["/mempool", ["getmempoolinfo", "getrawmempool", "getrawtransaction"]],
    ["/activity", ["estimatesmartfee", "getblockheader"]]
  ])("a user of %s needs %j", (path, methods) => {
    assert.deepStrictEqual(methodsShown({ query: new URLSearchParams(), path }), methods)
  })
})

describe("links", () => {
  it.prop("lead back to what they were made of", {
    hash,
    height,
    page,
    order: FastCheck.constantFrom(...NAME_ORDERS),
    poolOrder: FastCheck.constantFrom(...POOL_ORDERS),
    prefix: FastCheck.fullUnicodeString({ maxLength: 60 }),
    after: FastCheck.option(FastCheck.string({ maxLength: 40 }), { nil: undefined }),
    expired: FastCheck.boolean()
  }, ({ after, expired, hash, height, order, page, poolOrder, prefix }) => {
    const block = asked(blockLink(hash, { page }))
    assert.deepEqual(block, { _tag: "Block", place: hash, page })
    assert.deepEqual(asked(blockLink(height)), { _tag: "Block", place: height, page: 1 })
    assert.deepEqual(asked(blocksLink({ from: height })), { _tag: "Blocks", from: height })
    assert.deepEqual(asked(transactionLink(hash, { block: height, page })), {
      _tag: "Transaction",
      txid: hash,
      block: height,
      page
    })
    const pool = { order: poolOrder, names: expired, page }
    assert.deepEqual(asked(poolLink(pool)), { _tag: "Pool", list: pool })
    const names = asked(namesLink({ order, prefix, expired, after }))
    const list = { order, prefix, expired }
    assert.deepEqual(names, { _tag: "Names", list: after === undefined ? list : { ...list, after } })
    assert.match(namesLink({ order, prefix, expired, after }), /^\.\/names[A-Za-z0-9=&%_.!~*'()?-]*$/)
  })

  it("put only an address into its path", () => {
    assert.strictEqual(addressLink("a/../b\"<>"), "./address/a%2F..%2Fb%22%3C%3E")
  })
})

describe("placeMeant", () => {
  const network = networks.mainnet

  it.each([
    ["500000", 500_000],
    [" 500,000 ", 500_000],
    ["500.000", 500_000],
    ["#12", 12],
    ["0", 0]
  ])("reads %j as a height", (text, height) => {
    assert.deepEqual(placeMeant(text, network), { _tag: "Height", height })
  })

  it.each([displayHash(HASH), displayHash(HASH).toUpperCase(), `0x${displayHash(HASH)}`])(
    "reads %j as a hash",
    (text) => {
      assert.deepEqual(placeMeant(text, network), { _tag: "Hash", hash: HASH })
    }
  )

  it.each([
    ["N6fP4xPCuWAKKzLDyGNNTnNtcy1QrGjSLE", false],
    [encodeAddress(network, { kind: "witness", version: 0, program: HASH }), true],
    [encodeAddress(network, { kind: "pubkeyhash", hash: HASH.subarray(0, 20) }), true],
    ["d/example", false],
    ["12,34", false],
    ["1234567890", false],
    ["abcdef", false],
    ["", false]
  ])("reads %j as an address: %s", (text, isAddress) => {
    assert.strictEqual(placeMeant(text, network)?._tag, isAddress ? "Address" : undefined)
  })
})
