import { describe, it } from "@effect/vitest"
import { hasShared } from "./fixtures.ts"

const lacking = (): void => {
  it("needs the shared fixtures", () => {})
}

/**
 * Describes what needs the shared fixtures from its first line on: the body of a `describe` that is skipped runs all the
 * same, to collect its tests. Skips visibly where the fixtures are not there.
 */
export const describeShared = (title: string, body: () => void): void => {
  const tests = hasShared ? body : lacking
  describe.skipIf(!hasShared)(`${title}`, () => {
    tests()
  })
}
