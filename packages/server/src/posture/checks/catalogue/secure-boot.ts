import type { CatalogueEntry } from './catalogue-entry.ts'
import { verdictSql, type VerdictCase } from './verdict-sql.ts'

const cases: readonly VerdictCase[] = [
  ['PASS', `secure_boot = 1`],
  ['FAIL', `secure_boot = 0`],
]

// Intel Macs report a mode (1 full, 2 medium), Apple silicon a description.
const darwin = verdictSql({
  facts: {
    secure_boot: `SELECT secure_boot FROM secureboot LIMIT 1`,
    secure_mode: `SELECT secure_mode FROM secureboot LIMIT 1`,
    policy: `SELECT description FROM secureboot LIMIT 1`,
  },
  cases: [['FAIL', `policy = 'Permissive Security'`], ...cases],
})

const uefi = verdictSql({
  facts: {
    secure_boot: `SELECT secure_boot FROM secureboot LIMIT 1`,
    setup_mode: `SELECT setup_mode FROM secureboot LIMIT 1`,
  },
  cases: [['FAIL', `setup_mode = 1`], ...cases],
})

/** The firmware starts only an operating system that is signed. */
export const secureBoot: CatalogueEntry = {
  slug: 'secure-boot',
  name: 'Secure boot',
  description: 'The device starts only an operating system that a trusted maker has signed.',
  issueTitle: 'Secure boot is off',
  topics: ['malware'],
  tags: ['Important'],
  queries: { darwin, windows: uefi, linux: uefi },
  rationaleTemplate: `Software that starts before the operating system can see everything and hide from everyone. Secure boot refuses to start it.`,
  fix: {
    darwin: [
      'Shut the Mac down. Apple silicon: hold the power button until **Loading startup options** appears, then choose **Options** > **Continue**. Intel: press the power button and hold **Command-R** at once.',
      'In the menu bar choose **Utilities** > **Startup Security Utility**.',
      'Choose **Full Security** and restart.',
    ],
    windows: [
      'Have your BitLocker recovery key at hand: Windows may ask for it once.',
      'Open **Settings** > **System** > **Recovery** and choose **Restart now** next to **Advanced startup**.',
      'Choose **Troubleshoot** > **Advanced options** > **UEFI Firmware Settings** > **Restart**.',
      'Find **Secure Boot**, usually under **Boot** or **Security**, set it to **Enabled**, save and exit.',
    ],
    linux: [
      'If you use drivers from outside your distribution (NVIDIA, VirtualBox), sign them first: on Ubuntu run `sudo update-secureboot-policy --enroll-key`.',
      'Run `systemctl reboot --firmware-setup`.',
      'Find **Secure Boot**, usually under **Boot** or **Security**, set it to **Enabled**, save and exit.',
      'Check with `mokutil --sb-state`.',
    ],
  },
  privacyInfo: 'The secure boot setting of the firmware.',
  defaultStrategy: 'report_only',
  strategyReason: 'Changing firmware settings is not for every user, and some hardware lacks it.',
  shelfLife: 'software',
}
