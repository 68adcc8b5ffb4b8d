/* The frame of the pages before the console: the beam at one side, what is asked at the other. */
import type { ReactNode } from 'react'
import classes from './sign-in-page.module.css'
import { texts } from './texts.ts'

export function SignInFrame({ children }: { readonly children: ReactNode }) {
  return (
    <div className={classes.page}>
      <div className={classes.sky} aria-hidden>
        <Beam />
        <p className={classes.motto}>{texts.motto}</p>
      </div>
      <main className={classes.side}>
        <div className={classes.form}>
          <img src="/console/heliograph.svg" className={classes.mark} alt="" />
          {children}
        </div>
      </main>
    </div>
  )
}

/** The mirror and its beam. */
function Beam() {
  return (
    <svg viewBox="0 0 400 400" className={classes.beam}>
      <defs>
        <radialGradient id="glow" cx="0.5" cy="0.5" r="0.5">
          <stop offset="0" stopColor="#ffc24b" stopOpacity="0.9" />
          <stop offset="1" stopColor="#ffc24b" stopOpacity="0" />
        </radialGradient>
      </defs>
      <circle cx="150" cy="200" r="150" fill="url(#glow)" opacity="0.35" />
      <path d="M150 200 1150 -720 1150 -360Z" fill="#ffc24b" opacity="0.28" />
      <path d="M150 200 1150 -616 1150 -464Z" fill="#ffc24b" opacity="0.55" />
      <circle cx="150" cy="200" r="52" fill="#ffc24b" />
      <circle cx="150" cy="200" r="52" fill="none" stroke="#ffe2a6" strokeWidth="6" />
      <path d="M150 252v44M122 300h56" stroke="#a7b7c4" strokeWidth="8" strokeLinecap="round" />
    </svg>
  )
}
