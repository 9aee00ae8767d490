"""One request in the dashboard, commands for it, and what happens when the page knows too little."""

import os
import signal
import subprocess
import tempfile
import time

from support import Case, Keys, Origin, until, webdriver


class Entry(Case):
    def test_11_a_lost_server_is_told_countdowns_stop_and_it_comes_back_without_a_reload(self):
        self.open_with(2)
        self.js("window.mark = 'the same page'")
        self.layover.process.send_signal(signal.SIGSTOP)
        until("the page says so", lambda: self.shown("#stale"))
        self.see("#stale", "Layover does not answer.")
        before = self.text("#rows time[data-kind=until]")
        heard = self.text("#stale")
        until("it tells how old its knowledge is", lambda: self.text("#stale") != heard)
        self.assertEqual(self.text("#rows time[data-kind=until]"), before, "countdowns stand still")
        self.assertTrue(self.all(".incident button"), "the buttons stay")
        self.layover.process.send_signal(signal.SIGCONT)
        until("it is heard again", lambda: not self.shown("#stale"))
        until("countdowns go on", lambda: self.text("#rows time[data-kind=until]") != before)
        self.assertEqual(self.js("return window.mark"), "the same page")
        self.forget_network_errors()

    def test_11_a_restarted_server_is_followed_without_a_reload(self):
        head = self.layover.ticket(f"{self.dead}/pay")
        self.assertIn(b"202", head)
        self.open()
        self.see_rows(1)
        self.js("window.mark = 'the same page'")
        self.layover.stop()
        until("the page says so", lambda: self.shown("#stale"))
        self.layover.start()
        until("it is heard again", lambda: not self.shown("#stale"))
        self.layover.park(f"{self.dead}/more", 1)
        self.see_rows(2)
        self.assertEqual(self.js("return window.mark"), "the same page")
        self.forget_network_errors()

    def forget_network_errors(self):
        bad = [m["message"] for m in self.messages() if "net::ERR" not in m["message"] and m["level"] == "SEVERE"]
        self.assertEqual(bad, [])

    def test_12_a_command_that_came_too_late_is_told_in_words_on_the_row(self):
        self.open_with(2)
        id = self.rows()[0]
        self.click(self.row(1) + " input")
        self.layover.call("POST", f"/v1/pending/{id}/cancel", {"reason": "by a colleague"})
        self.see("#changes button", "1 change")
        self.click(self.row(1) + " [data-verb=retry]")
        self.see(self.row(1) + " .why", "Changed meanwhile, so nothing was done.")
        self.see(self.row(1) + " .why", "by a colleague")
        bad = [m["message"] for m in self.messages() if "409" not in m["message"] and "412" not in m["message"]]
        self.assertEqual(bad, [])

    def test_13_countdowns_go_by_the_clock_of_the_server_and_are_never_negative(self):
        self.layover.park(f"{self.dead}/1", 1)
        # A browser whose clock is five hours off, in both directions.
        for hours in (5, -5):
            script = f"const real = Date.now; Date.now = () => real() + {hours} * 3600000;"
            added = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
            try:
                self.open()
                until("a countdown is right", lambda: any(f"in {n} s" == self.text("#rows time[data-kind=until]") for n in range(1, 61)))
                self.assertRegex(self.text("#rows td[data-label^=Waiting] time"), r"^\d+ s ago$")
            finally:
                self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
        until_text = self.js("""
            const times = await import('/dashboard/times.js');
            return [times.until(new Date(times.now() - 5000).toISOString()), times.ago(new Date(times.now() + 5000).toISOString())];
        """)
        self.assertEqual(until_text, ["sending…", "0 s ago"])

    def test_14_every_time_is_relative_with_the_exact_one_and_a_switch_for_all(self):
        self.layover.park(f"{self.dead}/1", 1)
        self.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Kolkata"})
        try:
            self.open()
            self.see_rows(1)
            self.assertTrue(all(title.endswith("+05:30") for title in self.titles()), self.titles())
            self.one("#zone").send_keys("UTC")
            until("all are UTC", lambda: self.titles() and all(title.endswith("Z") for title in self.titles()))
            self.assertIn(" UTC", self.text(".incident .what"))
            self.open("?tab=incidents")
            self.see("#extra .scale.end", " UTC")
            self.driver.refresh()
            self.ready()
            self.assertEqual(self.one("#zone").get_attribute("value"), "utc")
            self.one("#zone").send_keys("local")
        finally:
            self.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})

    def titles(self):
        return self.js("return [...document.querySelectorAll('time[data-kind]')].map((t) => { if (!t.dateTime) throw 1; return t.title })")

    def test_15_copy_as_curl_runs_in_a_shell_and_sends_the_same_bytes(self):
        origin = self.origin()
        cases = [
            (b"it's \"quoted\" $HOME `id` %s \\n\nnext line\n", {"Content-Type": "text/plain", "X-Note": "a 'b' $c `d` \"e\"", "Accept-Encoding": "gzip"}),
            (bytes(range(256)) * 3, {"Content-Type": "application/octet-stream"}),
            (b"@file and 50% of \xc3\xa4\xe2\x82\xac", {"Authorization": "Bearer very-secret"}),
        ]
        token = {"Authorization": "Bearer " + self.token()}
        for number, (body, fields) in enumerate(cases):
            self.layover.park(f"http://127.0.0.1:{origin.port}/in%20put/{number}?q=[x]", 1, method="POST", body=body, **fields)
        commands = []
        for entry in sorted(self.layover.pending(), key=lambda entry: entry["url"]):
            request = self.layover.call("GET", f"/v1/pending/{entry['id']}/request")
            body = cases[len(commands)][0]
            self.open()
            commands.append(self.js("""
                const { curl } = await import('/dashboard/curl.js');
                return curl(arguments[0], new Uint8Array(arguments[1]));
            """, request, list(body)))
        origin.start()
        for (body, fields), command in zip(cases, commands):
            self.assertNotIn("very-secret", command)
            with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as file:
                file.write(command.replace("?q=***", "?q=[x]"))
            self.addCleanup(os.remove, file.name)
            self.assertEqual(subprocess.run(["sh", "-n", file.name]).returncode, 0, command)
            before = len(origin.requests)
            environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("proxy")}
            done = subprocess.run(["sh", file.name], capture_output=True, env=environment, timeout=60)
            self.assertEqual(done.stdout, b"ok", done.stderr)
            mine = [r for r in origin.requests if r[2].get("Via") is None]
            method, path, sent, got = mine[-1]
            self.assertEqual((method, got), ("POST", body))
            self.assertTrue(path.startswith("/in%20put/"), path)
            self.assertNotIn("Accept-Encoding", sent)
            if "X-Note" in fields:
                self.assertEqual(sent["X-Note"], fields["X-Note"])
            if "Authorization" in fields:
                self.assertEqual(sent["Authorization"], "***")
            self.assertEqual(sent.get("Content-Type"), fields.get("Content-Type"))

    def token(self):
        found = subprocess.run(["find", self.layover.folder, "-name", "admin-token"], capture_output=True, text=True).stdout.split()
        with open(found[0]) as file:
            return file.read().strip()

    def test_16_copying_works_where_the_browser_has_no_clipboard_api(self):
        self.layover.park(f"{self.dead}/1", 1)
        self.open(f"?id={self.layover.pending()[0]['id']}")
        self.one("#detail [data-verb=copy-id]")
        # As on http://192.168.…, where the origin is not secure.
        self.js("Object.defineProperty(window, 'isSecureContext', { value: false }); window.copied = null;"
                "document.addEventListener('copy', () => { window.copied = document.activeElement.value; }, true);")
        self.click("#detail [data-verb=copy-id]")
        self.see(".toast", "Copied.")
        self.assertEqual(self.js("return window.copied"), self.layover.pending()[0]["id"])

    def test_17_attempts_are_bars_with_a_table_and_two_stand_side_by_side(self):
        closing = self.origin("close").start()
        self.layover.park(f"http://127.0.0.1:{closing.port}/x", 1)
        closing.stop()
        id = self.layover.pending()[0]["id"]
        self.layover.call("POST", f"/v1/pending/{id}/retry", {})
        until("two attempts failed", lambda: len(self.layover.call("GET", f"/v1/pending/{id}/explain")["attempts"]) >= 2)
        self.open(f"?id={id}")
        until("bars are drawn", lambda: len(self.all("#detail .phases")) >= 2)
        self.assertIn("connect", self.text("#detail li:first-child .failed"))
        self.assertEqual(self.text("#detail li:last-child .failed"), "wait")
        self.click("#detail li:first-child [data-attempt]")
        self.click("#detail li:last-child [data-attempt]")
        self.see("#compared", "Side by side")
        different = self.js("return [...document.querySelectorAll('#compared tr.different th')].map((th) => th.textContent)")
        self.assertIn("Ended in ≠", different)
        self.assertIn("Evidence ≠", different)
        self.click("#detail details.twin summary")
        self.see("#detail details.twin table", "connection_refused")

    def test_18_one_sentence_says_why_it_waits_and_which_key_changes_it(self):
        self.layover.park(f"{self.dead}/1", 1)
        self.open(f"?id={self.layover.pending()[0]['id']}")
        self.see("#sentence", f"Waits until {self.dead} is reachable.")
        self.see("#detail .key", "policies.default.delay")
        self.layover.call("PUT", "/v1/reachability", {"mode": "offline"})
        self.see("#sentence", "Waits because the mode is offline")
        self.see("#detail .key", "reachability.mode")

    def test_19_keys_work_where_the_focus_is_in_no_field(self):
        self.open_with(3)
        ids = self.rows()
        focused = "return document.activeElement.closest('#rows tr')?.dataset.id"
        self.keys("j", "j")
        self.assertEqual(self.js(focused), ids[1])
        self.keys("k")
        self.assertEqual(self.js(focused), ids[0])
        self.keys("x")
        self.assertEqual(len(self.all("#rows input:checked")), 1)
        self.keys("a")
        self.assertEqual(len(self.all("#rows input:checked")), 3)
        self.keys(Keys.ESCAPE)
        self.assertEqual(len(self.all("#rows input:checked")), 0)
        self.keys("/", "x", "j")
        self.assertEqual(self.one("#q").get_attribute("value"), "xj")
        self.keys(Keys.ESCAPE)
        self.js("document.activeElement.blur()")
        self.keys("?")
        self.see("dialog h2", "Keys")
        self.keys(Keys.ESCAPE)
        until("closed", lambda: not self.all("dialog[open]"))
        self.js("document.querySelector('#rows a').focus()")
        webdriver.ActionChains(self.driver).key_down(Keys.CONTROL).send_keys("c").key_up(Keys.CONTROL).perform()
        self.assertFalse(self.all("dialog[open]"), "with Ctrl the key is the browser's")
        self.keys("c")
        self.see("dialog h2", "Cancel this request?")

    def test_20_ranges_are_ticked_right_over_row_ten_and_the_box_of_the_head_has_three_states(self):
        self.open_with(12)
        self.click(self.row(9) + " input")
        self.assertTrue(self.js("return document.getElementById('all').indeterminate"))
        self.click(self.row(11) + " input", key=Keys.SHIFT)
        ticked = "return [...document.querySelectorAll('#rows tr')].flatMap((r, i) => r.querySelector('input').checked ? [i + 1] : [])"
        self.assertEqual(self.js(ticked), [9, 10, 11])
        self.click("#all")
        self.assertEqual(self.js("const b = document.getElementById('all'); return [b.checked, b.indeterminate]"), [True, False])
        self.click("#all")
        self.assertEqual(self.js(ticked), [])
        self.js("document.querySelector('#rows tr:nth-child(9) a').focus()")
        for _ in range(2):
            webdriver.ActionChains(self.driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_DOWN).key_up(Keys.SHIFT).perform()
        self.assertEqual(self.js(ticked), [9, 10, 11])

    def test_20_rows_stay_where_they_are_whatever_they_say(self):
        self.open_with(3)
        self.click(self.row(3) + " input")
        self.addCleanup(self.driver.set_window_size, 1400, 900)
        for width in (1400, 1240):
            self.driver.set_window_size(width, 900)
            before, after = self.js("""
                const places = () => [...document.querySelectorAll('#rows tr:nth-child(3) > *')].map((cell) => {
                  const { x, y } = cell.getBoundingClientRect();
                  return [x, y];
                });
                const before = places();
                const words = { ".why span": "as long as a reason can be ".repeat(9), ".state": "needs decision", "td:nth-child(5)": "handshake 100 %",
                  "td:nth-child(6)": "1024", "td:nth-child(7)": "119 min ago" };
                const row = document.querySelector("#rows tr");
                for (const [place, text] of Object.entries(words)) row.querySelector(place).textContent = text;
                return [before, places()];""")
            self.assertEqual(before, after, f"{width} pixels")

    def test_21_force_says_what_may_happen_twice_needs_words_and_enter_does_not_confirm(self):
        closing = self.origin("close").start()
        self.layover.ticket(f"http://127.0.0.1:{closing.port}/pay")
        until("undecided", lambda: self.layover.pending("?state=undecided"))
        id = self.layover.pending("?state=undecided")[0]["id"]
        closing.answer = None
        self.open(f"?tab=decision&id={id}")
        self.see("#sentence", "The server may have processed the request")
        self.see("#detail .key", "onMaybeApplied")
        self.click("#detail [data-verb=force]")
        self.see("dialog", "it acts twice")
        confirm = self.one("dialog [data-verb=confirm]")
        self.assertFalse(confirm.is_enabled())
        field = self.one("#typed")
        field.send_keys("yes", Keys.ENTER)
        self.assertFalse(confirm.is_enabled())
        field.clear()
        field.send_keys("duplicate-risk", Keys.ENTER)
        self.assertTrue(confirm.is_enabled())
        self.assertTrue(self.all("dialog[open]"))
        self.assertEqual(self.layover.call("GET", f"/v1/pending/{id}")["state"], "undecided")
        self.click("dialog [data-verb=confirm]")
        until("sent again", lambda: self.layover.call("GET", f"/v1/pending/{id}")["state"] == "delivered")
        self.assertEqual(len(closing.requests), 2)
