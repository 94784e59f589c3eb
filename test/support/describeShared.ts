import { describe, it } from "@effect/vitest"
import { hasShared } from "./fixtures.ts"

const lacking = (): void => {
  it("needs the shared fixtures", () => {})
}

/**
 * A `describe` for tests that need the shared fixtures from the first line of its body: vitest runs the body of a
 * skipped `describe` too, to collect its tests. Without the fixtures it skips visibly.
 */
export const describeShared = (title: string, body: () => void): void => {
  const tests = hasShared ? body : lacking
  describe.skipIf(!hasShared)(`${title}`, () => {
    tests()
  })
}
