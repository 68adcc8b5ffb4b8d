/* The accounts of Entra by which people sign in. */
import { Section } from '../kit/page.tsx'
import { EntraTable } from './entra-table.tsx'
import { GatePage } from './gate-page.tsx'
import { texts } from './texts.ts'

export function EntraPage() {
  return (
    <GatePage current="/settings/sign-in/entra-accounts">
      <Section title={texts.tabs.entra} lead={texts.entra.lead} isFlush>
        <EntraTable />
      </Section>
    </GatePage>
  )
}
