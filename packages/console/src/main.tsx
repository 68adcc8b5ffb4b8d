/* Starts the console in the page. */
import './trusted-types.ts'
import '@mantine/core/styles.layer.css'
import '@mantine/notifications/styles.layer.css'
import '@mantine/spotlight/styles.layer.css'
import '@fontsource-variable/atkinson-hyperlegible-next/wght.css'
import '@fontsource-variable/atkinson-hyperlegible-mono/wght.css'
import './design/tokens.css'
import './design/base.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './shell/app.tsx'

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no element for the console')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
