/*
 * What the OpenID provider shows by itself: the question whether to sign out, that somebody has, and a fault. Owns that
 * these look like every other page and have their policy; when they are shown is the library's affair.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { html } from '../pages/kit/markup.ts'
import { statement } from '../pages/kit/parts.ts'
import { showSignedOut } from '../forward-auth/show-sign-out.ts'
import { toWholePage, type PageContent, type PageSite } from '../pages/page-surface.ts'
import type { PagePolicy } from '../pages/kit/page-headers.ts'
import { chooseLanguage } from '../pages/texts/language.ts'
import { textsOf, type Texts } from '../pages/texts/texts.ts'

/** As much of an answer of the library as a page needs. */
interface AnswerOfLibrary {
  readonly headers: IncomingHttpHeaders
  type: string
  body: unknown
  set(headers: Record<string, string>): void
}

/** Who is to be signed out of what. */
interface SigningOut {
  /** Whether it is of one application that sent the person; of all that this browser has signed in to otherwise. */
  readonly isOfOne: boolean
  /** Where it leads, where it leads anywhere. */
  readonly leadsTo: string | undefined
}

/** The pages of the library. */
export interface ProviderPages {
  /** `form` is that of the library. */
  readonly askToSignOut: (
    answer: AnswerOfLibrary,
    form: string,
    signingOut: SigningOut,
  ) => Promise<void>
  readonly saySignedOut: (answer: AnswerOfLibrary) => Promise<void>
  readonly sayFault: (answer: AnswerOfLibrary, fault: string) => Promise<void>
  /** Nobody was signed out. */
  readonly saySignOutFault: (answer: AnswerOfLibrary, fault: string) => Promise<void>
}

/** The pages with the look of an organisation. */
export function createProviderPages(site: PageSite): ProviderPages {
  const show = async (
    answer: AnswerOfLibrary,
    toContent: (texts: Texts) => PageContent,
    policy: PagePolicy = {},
  ): Promise<void> => {
    const language = chooseLanguage(answer.headers['accept-language'])
    const page = await toWholePage(site, {
      content: toContent(textsOf(language)),
      language,
      policy,
    })
    answer.type = 'text/html; charset=utf-8'
    answer.set(page.headers)
    answer.body = page.html
  }
  return {
    askToSignOut: async (answer, form, { isOfOne, leadsTo }) => {
      // Where the form leads on counts as its target.
      const policy = leadsTo === undefined ? {} : { formsTo: [new URL(leadsTo).origin] }
      const asked = { ...readForm(form), isOfOne }
      await show(answer, ({ provider }) => askToSignOut(provider, asked), policy)
    },
    saySignedOut: async (answer) => show(answer, showSignedOut),
    sayFault: async (answer, fault) =>
      show(answer, ({ provider, attempt }) => showFault(provider.fault, attempt.beginAgain, fault)),
    saySignOutFault: async (answer, fault) =>
      show(answer, ({ provider, attempt }) =>
        showFault(provider.signOutFault, attempt.beginAgain, fault),
      ),
  }
}

function showFault(sentence: string, more: string, fault: string): PageContent {
  return {
    title: sentence,
    body: html`<div class="sheet stack-wide">
      ${statement({ tone: 'bad', sentence, more: html`<p>${more}</p>` })}
      <p class="quiet small">${fault}</p>
    </div>`,
  }
}

function askToSignOut(
  words: Texts['provider'],
  { action, xsrf, isOfOne }: LibraryForm & Pick<SigningOut, 'isOfOne'>,
): PageContent {
  const more = isOfOne ? words.signOutMore : words.signOutOfAllMore
  return {
    title: words.signOut,
    body: html`<div class="sheet stack-wide">
      ${statement({ tone: 'plain', picture: 'person', sentence: words.signOutQuestion, more: html`<p>${more}</p>` })}
      <form id="op.logoutForm" method="post" action=${action}>
        <input type="hidden" name="xsrf" value=${xsrf} />
        <div class="actions">
          <button class="button button-main" name="logout" value="yes">${words.signOut}</button>
        </div>
      </form>
    </div>`,
  }
}

interface LibraryForm {
  readonly action: string
  readonly xsrf: string
}

/** The form of the library is made of an address and a secret alone. */
function readForm(form: string): LibraryForm {
  const action = /\baction="([^"]*)"/.exec(form)?.[1]
  const xsrf = /\bname="xsrf" value="([^"]*)"/.exec(form)?.[1]
  if (action === undefined || xsrf === undefined) throw new Error('the form is another one')
  return { action, xsrf }
}
