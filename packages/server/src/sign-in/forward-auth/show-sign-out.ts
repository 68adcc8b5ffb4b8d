/* The question whether to leave a site, and that it is done. */
import { html } from '../pages/kit/markup.ts'
import { linkButton, statement } from '../pages/kit/parts.ts'
import type { PageContent } from '../pages/page-surface.ts'
import type { Texts } from '../pages/texts/texts.ts'

/** Its form goes to where it is: the address says which session ends. */
export function showSignOut(origin: string, { provider }: Texts): PageContent {
  const sentence = provider.signOutOf(new URL(origin).host)
  return {
    title: provider.signOut,
    body: html`<div class="sheet stack-wide">
      ${statement({ tone: 'plain', picture: 'person', sentence, more: html`<p>${provider.signOutOfMore}</p>` })}
      <form method="post">
        <div class="actions">
          <button class="button button-main">${provider.signOut}</button>
          ${linkButton(`${origin}/`, provider.staySignedIn)}
        </div>
      </form>
    </div>`,
  }
}

export function showSignedOut({ provider }: Texts): PageContent {
  return {
    title: provider.signedOut,
    body: html`<div class="sheet stack-wide">
      ${statement({ tone: 'good', sentence: provider.signedOut, more: html`<p>${provider.signedOutMore}</p>` })}
    </div>`,
  }
}
