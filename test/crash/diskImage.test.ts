import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { type Disk, diskAfter, type DiskEvent, type Model, type StoredFile } from "../../scripts/crash/diskImage.ts"
import { Random } from "../../scripts/crash/random.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (content: Uint8Array | undefined): string | undefined =>
  content === undefined ? undefined : new TextDecoder().decode(content)

const seeds = Array.from({ length: 60 }, (_, i) => i)
const models: ReadonlyArray<Model> = ["strict", "journal"]

const write = (inode: number, offset: number, text: string): DiskEvent => ({
  _tag: "Write",
  inode,
  offset,
  bytes: bytes(text)
})

/** Every image that a few seeds give of the events. */
const images = (before: ReadonlyMap<string, StoredFile>, events: ReadonlyArray<DiskEvent>, model: Model) =>
  seeds.map((seed) => diskAfter(before, events, events.length, model).afterCut(new Random(seed)))

const NOTHING = new Map<string, StoredFile>()

describe("what a disk holds after a cut", () => {
  it("is what was synced, whatever the seed", () => {
    const events: ReadonlyArray<DiskEvent> = [
      { _tag: "Create", path: "a", inode: 1 },
      write(1, 0, "kept"),
      { _tag: "Sync", inode: 1 },
      { _tag: "SyncDirectory", path: "" },
      write(1, 4, " or not")
    ]
    for (const model of models) {
      for (const image of images(NOTHING, events, model)) assert.match(textOf(image.get("a")) ?? "", /^kept( or not)?$/)
    }
  })

  it("is the old file or the new one where a rename replaces one by the other", () => {
    const before = new Map([["f", { inode: 1, bytes: bytes("old") }]])
    const replaced: ReadonlyArray<DiskEvent> = [
      { _tag: "Create", path: "f.new", inode: 2 },
      write(2, 0, "new"),
      { _tag: "Sync", inode: 2 },
      { _tag: "Rename", from: "f.new", to: "f" }
    ]
    for (const model of models) {
      const found = new Set(images(before, replaced, model).map((image) => textOf(image.get("f"))))
      assert.deepStrictEqual([...found].sort(), ["new", "old"])
      const synced = images(before, [...replaced, { _tag: "SyncDirectory", path: "" }], model)
      assert.deepStrictEqual([...new Set(synced.map((image) => textOf(image.get("f"))))], ["new"])
    }
  })

  it("may be an empty file under the new name where its content was not synced", () => {
    const before = new Map([["f", { inode: 1, bytes: bytes("old") }]])
    const events: ReadonlyArray<DiskEvent> = [
      { _tag: "Create", path: "f.new", inode: 2 },
      write(2, 0, "new"),
      { _tag: "Rename", from: "f.new", to: "f" },
      { _tag: "SyncDirectory", path: "" }
    ]
    assert.include(images(before, events, "strict").map((image) => textOf(image.get("f"))), "")
  })

  it("may be torn between sectors, and nowhere else", () => {
    const before = new Map([["f", { inode: 1, bytes: new Uint8Array(4096).fill(1) }]])
    const events: ReadonlyArray<DiskEvent> = [{
      _tag: "Write",
      inode: 1,
      offset: 700,
      bytes: new Uint8Array(2000).fill(2)
    }]
    let torn = 0
    for (const image of images(before, events, "strict")) {
      const content = image.get("f") ?? new Uint8Array(0)
      const kept = new Set<number>()
      for (let at = 700; at < 2700; at++) if (content[at] === 2) kept.add(Math.floor(at / 512))
      for (let at = 0; at < 4096; at++) {
        const inside = at >= 700 && at < 2700 && kept.has(Math.floor(at / 512))
        assert.strictEqual(content[at], inside ? 2 : 1)
      }
      if (kept.size > 0 && kept.size < 5) torn++
    }
    assert.isAbove(torn, 0)
  })

  it("loses the name of a new file that was synced without its directory only where names are not kept in order", () => {
    const events: ReadonlyArray<DiskEvent> = [
      { _tag: "Create", path: "d/new", inode: 1 },
      write(1, 0, "content"),
      { _tag: "Sync", inode: 1 }
    ]
    assert.isTrue(images(NOTHING, events, "journal").every((image) => textOf(image.get("d/new")) === "content"))
    const strict = images(NOTHING, events, "strict").map((image) => textOf(image.get("d/new")))
    assert.includeMembers(strict, ["content", undefined])
  })

  it("does not touch what was there before", () => {
    const content = Buffer.from("before")
    const before = new Map([["f", { inode: 1, bytes: content }]])
    images(before, [write(1, 0, "AFTER!"), { _tag: "Sync", inode: 1 }], "strict")
    assert.strictEqual(content.toString(), "before")
  })

  const event: FastCheck.Arbitrary<DiskEvent> = FastCheck.oneof(
    FastCheck.record({
      _tag: FastCheck.constant("Write" as const),
      inode: FastCheck.integer({ min: 1, max: 3 }),
      offset: FastCheck.nat(1500),
      bytes: FastCheck.uint8Array({ minLength: 1, maxLength: 1200 })
    }),
    FastCheck.record({
      _tag: FastCheck.constant("Truncate" as const),
      inode: FastCheck.integer({ min: 1, max: 3 }),
      size: FastCheck.nat(2000)
    }),
    FastCheck.record({ _tag: FastCheck.constant("Sync" as const), inode: FastCheck.integer({ min: 1, max: 3 }) })
  )
  const three = new Map([1, 2, 3].map((inode) => [`f${inode}`, { inode, bytes: new Uint8Array(100).fill(inode) }]))

  it.prop("is what programs saw at the time, where all of it was synced", [
    FastCheck.array(event, { maxLength: 30 }),
    FastCheck.nat(),
    FastCheck.constantFrom(...models)
  ], ([events, seed, model]) => {
    const disk: Disk = diskAfter(three, events, events.length, model)
    const seen = disk.whole()
    for (const inode of [1, 2, 3]) disk.take({ _tag: "Sync", inode })
    assert.deepStrictEqual(disk.afterCut(new Random(seed)), seen)
  })

  it.prop("is the same for the same seed", [FastCheck.array(event, { maxLength: 30 }), FastCheck.nat()], ([
    events,
    seed
  ]) => {
    const image = () => diskAfter(three, events, events.length, "strict").afterCut(new Random(seed))
    assert.deepStrictEqual(image(), image())
  })
})
