import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { PassThrough } from "node:stream"
import { makePrompt, type PromptTerminal } from "../../../src/programs/tool/prompt.ts"

/** A terminal whose keys a test presses, and whose screen it sees. */
const terminalOf = (isTTY: boolean) => {
  const keys = new PassThrough()
  const screen = { text: "" }
  const modes: Array<boolean> = []
  const stdin = Object.assign(keys, {
    isTTY,
    setRawMode: (mode: boolean) => {
      modes.push(mode)
      return stdin
    }
  })
  const stderr = {
    isTTY,
    write: (text: string) => {
      screen.text += text
      return true
    }
  }
  const terminal: PromptTerminal = { stdin, stderr }
  return { keys, modes, prompt: makePrompt(terminal), screen }
}

const answerTo = (question: "secret" | "line", ...typed: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { keys, modes, prompt, screen } = terminalOf(true)
    const fiber = yield* Effect.fork(prompt[question]("What? "))
    yield* Effect.yieldNow()
    for (const chunk of typed) keys.write(chunk)
    const answer = yield* Fiber.join(fiber)
    // The terminal is restored.
    assert.deepStrictEqual(modes, [true, false])
    assert.strictEqual(keys.listenerCount("data"), 0)
    return { answer, shown: screen.text }
  })

describe("a prompt", () => {
  it.live("does not show a secret", () =>
    Effect.gen(function*() {
      const found = yield* answerTo("secret", "pass", "word\r")
      assert.deepStrictEqual(found, { answer: "password", shown: "What? \n" })
    }))

  it.live("shows an answer that is not secret, and lets the user correct it", () =>
    Effect.gen(function*() {
      const found = yield* answerTo("line", "yess\u007f\n")
      assert.deepStrictEqual(found, { answer: "yes", shown: "What? yess\b \b\n" })
    }))

  it.live("accepts an empty answer and letters of any language, but no control characters", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* answerTo("secret", "\r")).answer, "")
      assert.strictEqual((yield* answerTo("secret", "\u007f\u001bé\u0001本\r")).answer, "é本")
      assert.strictEqual((yield* answerTo("secret", `${"x".repeat(5_000)}\r`)).answer?.length, 4_000)
    }))

  it.live("has no answer if the user aborts", () =>
    Effect.gen(function*() {
      assert.isUndefined((yield* answerTo("secret", "abc\u0003")).answer)
      assert.isUndefined((yield* answerTo("secret", "\u0004")).answer)
    }))

  it.live("restores the terminal when it is interrupted", () =>
    Effect.gen(function*() {
      const { keys, modes, prompt } = terminalOf(true)
      const fiber = yield* Effect.fork(prompt.secret("What? "))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(modes, [true, false])
      assert.strictEqual(keys.listenerCount("data"), 0)
    }))

  it.live("asks no question without a terminal", () =>
    Effect.gen(function*() {
      const { modes, prompt, screen } = terminalOf(false)
      assert.isUndefined(yield* prompt.secret("What? "))
      assert.isUndefined(yield* prompt.line("What? "))
      assert.deepStrictEqual([screen.text, modes], ["", []])
    }))
})
