import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readCliCommandLine, wordProblems } from "../../../src/programs/cli/flags.ts"
import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { answering, runWith } from "./commandRun.ts"

const OPEN = { getwalletinfo: { walletname: "" } }
const RIGHT = { ...OPEN, checkrecoverywords: { correct: true, phrase_checked: 1_800_000_000 } }
const PHRASE = Array.from({ length: 12 }, (_, at) => `word${at + 1}`)

describe("svcd-cli seed check", () => {
  it.effect("asks for three words of the paper, without showing them, and says that they are right", () =>
    Effect.gen(function*() {
      const prompt = answering("12", "Alpha ", "beta", "gamma")
      const { run, sent } = runWith(RIGHT, { prompt })
      const { code, stderr, stdout } = yield* run("seed", "check")
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual(stdout, "All of these words are right. The wallet records the date of this check.\n")
      const places = prompt.asked.slice(1).map((question) =>
        Number(/^Word (\d+) \(it is not shown\): $/.exec(question)?.[1])
      )
      assert.lengthOf(new Set(places), 3)
      assert.isTrue(places.every((place) => place >= 1 && place <= 12))
      const words = ["Alpha", "beta", "gamma"]
      assert.deepStrictEqual(sent("checkrecoverywords"), [[
        Object.fromEntries(places.map((place, at) => [String(place), words[at]]))
      ]])
      assert.deepStrictEqual(prompt.secrets, prompt.asked.slice(1))
    }))

  it.effect("reads the whole phrase from standard input, with numbers or without", () =>
    Effect.gen(function*() {
      for (const stdin of [`${PHRASE.join(" ")}\n`, PHRASE.map((word, at) => `${at + 1}. ${word}\r\n`).join("")]) {
        const { run, sent } = runWith(RIGHT, { stdin })
        assert.strictEqual((yield* run("seed", "check", "-")).code, 0)
        assert.deepStrictEqual(sent("checkrecoverywords"), [[
          Object.fromEntries(PHRASE.map((word, at) => [String(at + 1), word]))
        ]])
      }
      const short = runWith(RIGHT, { stdin: "one two three" })
      const { code, stderr } = yield* short.run("seed", "check", "-")
      assert.strictEqual(code, 1)
      assert.match(stderr, /standard input has 3 words, and a seed phrase has 12, 15, 18, 21 or 24/)
      assert.notInclude(stderr, "two")
      assert.deepStrictEqual(short.sent("checkrecoverywords"), [])
    }))

  it.effect("fails for a wrong word, in JSON too, and shows no word", () =>
    Effect.gen(function*() {
      const wrong = { ...OPEN, checkrecoverywords: { correct: false } }
      const { code, stderr, stdout } = yield* runWith(wrong, { prompt: answering("", "a", "b", "secretword") }).run(
        "seed",
        "check"
      )
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^error: at least one of these words is wrong\./)
      assert.notInclude(stderr, "secretword")
      const json = yield* runWith(wrong, { prompt: answering("", "a", "b", "c") }).run("seed", "check", "-json")
      assert.deepStrictEqual([json.code, JSON.parse(json.stdout)], [1, { correct: false }])
    }))

  it.effect("asks for the passphrase of a locked wallet behind the words, and locks it again", () =>
    Effect.gen(function*() {
      const prompt = answering("24", "a", "b", "c", "passphrase")
      const { run, sent } = runWith({
        ...RIGHT,
        getwalletinfo: { walletname: "", unlocked_until: 0 },
        walletpassphrase: null,
        walletlock: null
      }, { prompt })
      assert.strictEqual((yield* run("seed", "check")).code, 0)
      assert.strictEqual(prompt.secrets.at(-1), "Passphrase of the wallet: ")
      assert.lengthOf(sent("walletlock"), 1)
    }))

  it.effect("checks nothing without a terminal, with an odd number of words, or without an answer", () =>
    Effect.gen(function*() {
      for (
        const [answers, said] of [
          [[], /no terminal to ask on.*svcd-cli seed check -/],
          [["13"], /a seed phrase has 12, 15, 18, 21 or 24 words; nothing was checked/],
          [["24", "a", ""], /nothing was checked/],
          [["24", "a"], /nothing was checked/]
        ] as const
      ) {
        const { run, sent } = runWith(RIGHT, { prompt: answering(...answers) })
        const { code, stderr } = yield* run("seed", "check")
        assert.strictEqual(code, 1)
        assert.match(stderr, said)
        assert.deepStrictEqual(sent("checkrecoverywords"), [])
      }
    }))

  it.effect("says what a daemon without the method, or a wallet without words, answers", () =>
    Effect.gen(function*() {
      const prompt = () => answering("24", "a", "b", "c")
      assert.match(
        (yield* runWith(OPEN, { prompt: prompt() }).run("seed", "check")).stderr,
        /another program, or an older/
      )
      const keyless = new RpcFailure({ code: -4, message: "this wallet has no seed phrase" })
      const { run } = runWith({ ...OPEN, checkrecoverywords: keyless }, { prompt: prompt() })
      assert.include((yield* run("seed", "check")).stderr, "this wallet has no seed phrase")
    }))

  it("takes no word as an argument, and does not repeat it", () => {
    assert.deepStrictEqual(wordProblems(readCliCommandLine(["seed", "check", "-"])), [])
    const [problem = "", ...more] = wordProblems(readCliCommandLine(["seed", "check", "abandon"]))
    assert.deepStrictEqual(more, [])
    assert.match(problem, /other users could see a word in an argument/)
    assert.notInclude(problem, "abandon")
  })
})
