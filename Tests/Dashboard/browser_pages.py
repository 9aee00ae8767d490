"""The HTML of the pages by the Nu checker, and screenshots of every tab. Run by `make test-browser`."""

import os
import subprocess
import tempfile
import unittest
import urllib.request

from support import Case, until

VNU = os.environ.get("VNU", "")
SCREENSHOTS = os.environ.get("SCREENSHOTS", "")


class Pages(Case):
    def fill(self):
        closing = self.origin("close").start()
        self.layover.ticket(f"http://127.0.0.1:{closing.port}/orders", body=b'{"order": 1}')
        until("undecided", lambda: self.layover.pending("?state=undecided"))
        for path in ("invoices/2026-11", "orders?page=2", "customers/17"):
            self.layover.park(f"{self.dead}/{path}")
        held = self.layover.pending("?state=waiting")[0]["id"]
        self.layover.call("POST", f"/v1/pending/{held}/hold", {"reason": "wait for the books"})
        done = self.origin().start()
        self.layover.send(f"http://127.0.0.1:{done.port}/").recv(1000)

    @unittest.skipUnless(VNU, "VNU names the file of the checker")
    def test_23_html_has_no_errors(self):
        self.fill()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with tempfile.TemporaryDirectory() as folder:
            for name, path in {"page": "", "tickets": "?tab=tickets", "empty": "?q=nothing", "login": "login"}.items():
                with opener.open(self.layover.url + path) as page, open(f"{folder}/{name}.html", "wb") as file:
                    file.write(page.read())
            checked = subprocess.run(["java", "-jar", VNU, "--errors-only", folder], capture_output=True, text=True)
        self.assertEqual(checked.stderr, "")
        self.assertEqual(checked.returncode, 0)

    @unittest.skipUnless(SCREENSHOTS, "SCREENSHOTS names a folder")
    def test_screenshots_of_every_tab_in_both_themes(self):
        self.fill()
        for theme in ("light", "dark"):
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
            for tab in ("waiting", "decision", "held", "recent", "tickets", "cache", "incidents"):
                self.open(f"?tab={tab}")
                until("its parts are there", lambda: tab not in ("cache", "incidents") or self.text("#extra"))
                self.driver.save_screenshot(f"{SCREENSHOTS}/{tab}-{theme}.png")
            self.open(f"?tab=decision&id={self.layover.pending('?state=undecided')[0]['id']}")
            self.see("#sentence", "may have processed")
            self.driver.save_screenshot(f"{SCREENSHOTS}/request-{theme}.png")
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.messages()
