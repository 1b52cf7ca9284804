import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['test/**/*.test.ts'], exclude: ['test/long/**'], testTimeout: 20_000 },
})
