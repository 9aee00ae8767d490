"""Every state of the page by axe (wcag2a to wcag22aa), in light, dark and forced colours. Run by `make test-browser`."""

import os
import unittest

from support import Case, until

AXE = os.environ.get("AXE", "")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@unittest.skipUnless(AXE, "AXE names the file of axe")
class Axe(Case):
    def check(self, name):
        with open(AXE) as file:
            self.js(file.read() + ";window.axe = axe;")
        found = self.driver.execute_async_script("""
            const [rules, done] = arguments;
            axe.run(document, { runOnly: rules }).then((r) => done(r.violations.map((v) => [v.id, v.nodes.map((n) => n.html).slice(0, 3)])), (e) => done([['error', [String(e)]]]));
        """, RULES)
        self.assertEqual(found, [], name)

    def test_23_no_violation_in_any_tab_theme_or_dialog(self):
        closing = self.origin("close").start()
        self.layover.ticket(f"http://127.0.0.1:{closing.port}/pay")
        until("undecided", lambda: self.layover.pending("?state=undecided"))
        self.layover.park(f"{self.dead}/#", 3)
        self.layover.call("POST", f"/v1/pending/{self.layover.pending('?state=waiting')[0]['id']}/hold", {})
        id = self.layover.pending("?state=undecided")[0]["id"]
        for theme in ({"prefers-color-scheme": "light"}, {"prefers-color-scheme": "dark"}, {"forced-colors": "active"}):
            features = [{"name": name, "value": value} for name, value in theme.items()]
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            for tab in ("waiting", "decision", "held", "recent", "tickets", "cache", "incidents"):
                self.open(f"?tab={tab}")
                until("its parts are there", lambda: tab not in ("cache", "incidents") or self.text("#extra"))
                self.check(f"{tab} {theme}")
            self.open(f"?tab=decision&id={id}")
            self.see("#sentence", "may have processed")
            self.check(f"entry {theme}")
            self.click("#detail [data-verb=force]")
            self.one("dialog[open]")
            self.check(f"dialog {theme}")
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        # It does find what is wrong.
        self.open()
        self.js("document.body.append(document.createElement('img'), document.createElement('button'))")
        with self.assertRaises(AssertionError):
            self.check("a picture without a text")
        self.messages()
