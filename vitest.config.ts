import { defineConfig } from "vitest/config"

/** Property tests and vectors take long on a slow machine; a test that waits for longer than this hangs. */
const UNIT_TIMEOUT = 60_000

/** A test that starts a node, kills it and starts it again. */
const INTEGRATION_TIMEOUT = 180_000

export default defineConfig({
  test: {
    pool: "forks",
    // Layers own the state, so test files can share one module graph: several times faster. The pool takes this from here
    // and not from a project (vitest 3.2).
    isolate: false,
    // A test that fails sometimes is a bug in the test or in the node.
    retry: 0,
    maxWorkers: 2,
    minWorkers: 1,
    globalSetup: "test/support/sharedDirectory.ts",
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/integration/**"],
          testTimeout: UNIT_TIMEOUT,
          hookTimeout: UNIT_TIMEOUT,
          sequence: { groupOrder: 0 }
        }
      },
      {
        test: {
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          // Whole programs of the build, after everything else, so that a node shares the machine with one other at most.
          testTimeout: INTEGRATION_TIMEOUT,
          hookTimeout: INTEGRATION_TIMEOUT,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
