import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where the pages of `npm run dev` in this folder find a running service. */
const service = process.env['HELIOGRAPH_URL'] ?? 'http://127.0.0.1:8080'

/** Every path that does not belong to the console goes to the service. */
const toService = { target: service, changeOrigin: false }

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: '../server/console',
    emptyOutDir: true,
    // The preload helper of Vite makes elements from texts; the browsers that we serve need none.
    modulePreload: { polyfill: false },
    target: 'es2023',
    assetsInlineLimit: 0,
    // In bytes that are sent, which are a third of these, the check holds what a page begins with.
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        // What most pages share is one script that comes with the first: by itself each piece of it would be a request.
        codeSplitting: { groups: [{ name: 'shared', minShareCount: 12 }] },
      },
    },
  },
  server: { proxy: { '^/(?!console/)': toService, '^/console/session': toService } },
})
