/* The identity provider by which admins sign in: set up, checked, changed, switched off and removed. */
import { useQuery } from '@tanstack/react-query'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Page, Section } from '../kit/page.tsx'
import { Loaded } from '../kit/states.tsx'
import { ProviderForm } from './provider-form.tsx'
import { setupQuery } from './provider-calls.ts'
import { ProviderState } from './provider-state.tsx'
import { texts } from './texts.ts'

export function IdentityProviderPage() {
  const query = useQuery(setupQuery)
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      above={[{ label: texts.settings, to: '/settings' }]}
    >
      <Loaded query={query} height={320}>
        {(setup) => (
          <>
            <Section title={texts.atProvider} lead={texts.atProviderLead}>
              <Facts
                facts={[
                  [
                    texts.redirectUri,
                    <Copyable key="redirect" value={setup.redirect_uri} isWhole />,
                  ],
                ]}
              />
            </Section>
            {setup.provider === null ? null : (
              <ProviderState provider={setup.provider} setup={setup} />
            )}
            <ProviderForm key={setup.provider === null ? 'new' : 'present'} setup={setup} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
