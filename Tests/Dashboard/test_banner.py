"""The banner, the list and what they do when the world changes."""

import subprocess
import time
import unittest

from support import By, Case, Keys, until, webdriver


class Banner(Case):
    policies = {"counted": {"delay": {"type": "constant", "every": "10s"}, "automaticAttemptsMax": 3, "onExhausted": "ask"}}
    changes = {"routes": {"counted": {"host": "127.0.0.1", "pathPrefix": "/counted", "policy": "counted"}}}

    def test_01_the_banner_tells_count_cause_countdown_and_part_and_has_two_buttons(self):
        self.open()
        self.assertEqual(self.all(".incident"), [])
        origin = self.origin()
        self.layover.park(f"http://127.0.0.1:{origin.port}/counted/#", 2)
        self.see(".incident .what", "cannot be reached since")
        self.see(".incident .what", "2 requests are waiting.")
        until("there is a countdown", lambda: "Retrying in " in self.text(".incident .next") and "of 3)" in self.text(".incident .next"))
        self.assertEqual(self.texts(".incident button"), ["Retry now", "Cancel all"])
        # It is in the document at load: a dump without scripts has it.
        page = subprocess.run(["curl", "-s", self.layover.url], capture_output=True, text=True).stdout
        self.assertIn("2 requests are waiting.", page)
        self.assertIn(">Retry now</button>", page)
        # After the automatic attempts only the buttons are left.
        self.see(".incident .next", "No automatic attempts are left.")
        self.assertEqual(len(self.all(".incident button")), 2)
        # It goes by itself.
        origin.start()
        self.click(".incident [data-verb=incident-retry]")
        until("the banner goes", lambda: not self.all(".incident"))
        self.assertEqual(sorted(path for _, path, _, _ in origin.requests), ["/counted/1", "/counted/2"])

    def test_02_all_acts_on_what_was_shown_and_says_what_came_later(self):
        self.open_with(3, "/old/#")
        self.click("#bulk [data-name=cancel]")
        self.one("dialog[open]")
        self.layover.park(f"{self.dead}/new/#", 2)
        self.click("dialog [data-verb=confirm]")
        self.see(".toast", "3 of 3 done")
        self.see(".toast", "2 requests came later.")
        self.see(".toast", "Cancel those too")
        self.see_rows(2)
        self.assertEqual(sorted(entry["url"].rsplit("/", 2)[1] for entry in self.layover.pending()), ["new", "new"])

    def test_02_cancel_all_of_the_banner_leaves_what_came_later(self):
        self.layover.park(f"{self.dead}/old/#", 2)
        self.open()
        self.click(".incident [data-verb=incident-cancel]")
        self.one("dialog[open]")
        self.layover.park(f"{self.dead}/new", 1)
        self.click("dialog [data-verb=confirm]")
        until("the old ones are gone", lambda: [e["url"].rsplit("/", 1)[1] for e in self.layover.pending()] == ["new"])

    def test_03_all_with_a_filter_means_the_filtered_set_on_all_pages_and_counts_it(self):
        self.layover.park(f"{self.dead}/a/#", 3)
        self.layover.park(f"{self.dead}/b/#", 230)
        self.open("?q=/b/")
        self.see_rows(200)
        self.click("#bulk [data-name=hold]")
        self.see("dialog h2", "Hold 230 requests?")
        self.click("dialog [data-verb=confirm]")
        self.see(".toast", "230 of 230 done")
        counts = self.layover.call("GET", "/v1/pending?limit=1")["counts"]
        self.assertEqual((counts["held"], counts["waiting"]), (230, 3))

    def test_04_while_a_row_is_ticked_no_row_moves_and_the_changes_are_offered(self):
        self.open_with(3)
        before = self.rows()
        self.click(self.row(1) + " input")
        self.layover.park(f"{self.dead}/more/#", 2)
        self.layover.call("POST", f"/v1/pending/{before[1]}/cancel", {})
        self.see("#changes button", "3 changes – show")
        self.assertEqual(self.rows(), before)
        self.click("#changes button")
        self.see_rows(4)
        self.assertEqual(self.all("#rows input:checked"), [])

    def test_04_while_the_pointer_is_down_or_a_dialog_is_open_no_row_moves(self):
        self.open_with(2)
        self.click("[data-verb=help]")
        self.layover.park(f"{self.dead}/dialog", 1)
        self.see("#changes button", "1 change – show")
        self.assertEqual(len(self.rows()), 2)
        self.click("[data-verb=close-dialog]")
        # What was held back is shown with the next look at the server.
        self.see_rows(3)

    def test_04_nothing_is_drawn_anew_between_press_and_release(self):
        self.open_with(2)
        self.steady(self.row(2) + " input")
        box = self.one(self.row(2) + " input")
        self.js("arguments[0].mark = 'the same box'", box)
        actions = webdriver.ActionChains(self.driver)
        actions.move_to_element(box).click_and_hold().perform()
        ids = self.rows()
        for _ in range(3):
            self.layover.call("PATCH", f"/v1/pending/{ids[1]}", {"priority": 1})
            self.layover.call("PATCH", f"/v1/pending/{ids[1]}", {"priority": 2})
        self.layover.park(f"{self.dead}/more", 1)
        until("the page has heard of it", lambda: self.js("return performance.getEntriesByType('resource').filter((r) => r.name.includes('snapshot')).length") > 1)
        self.assertEqual(self.js("return document.querySelector('#rows tr:nth-child(2) input').mark"), "the same box")
        webdriver.ActionChains(self.driver).release().perform()
        until("the click was not lost", lambda: len(self.all("#rows input:checked")) == 1)

    def test_05_after_a_bulk_command_nothing_is_ticked_and_updates_go_on(self):
        self.open_with(3)
        gone = self.rows()[0]
        for number in (1, 2):
            self.click(self.row(number) + " input")
        self.layover.call("POST", f"/v1/pending/{gone}/cancel", {})
        self.see("#changes button", "1 change")
        self.click("#bulk [data-name=hold]")
        self.see(".toast", "1 of 1 done")
        self.see(".toast", "1 refused")
        self.assertEqual(self.all("#rows input:checked"), [])
        self.see_rows(1)

    def test_06_a_click_that_a_redraw_moved_under_the_pointer_ends_nothing(self):
        self.open_with(2)
        ids = self.rows()
        self.steady(self.row(1) + " [data-verb=cancel]")
        # In one go: the first row goes, the second one moves up, and the click arrives where its button is now.
        result = self.js("""
            const before = document.querySelector('#rows tr:nth-child(1) [data-verb=cancel]').getBoundingClientRect();
            const [x, y] = [before.x + 5, before.y + 5];
            document.querySelector('#rows tr:nth-child(1)').remove();
            const target = document.elementFromPoint(x, y);
            target.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1, clientX: x, clientY: y }));
            return target.dataset.id;
        """)
        self.assertEqual(result, ids[1], "the button of another request is under the pointer")
        self.see(".toast", "The page had just changed under the pointer")
        self.assertFalse(self.all("dialog[open]"))
        # After a while the same button works. The page puts the first row back meanwhile, which is a redraw too: one clicks again.
        def click_again():
            self.click(f"#rows tr[data-id='{ids[1]}'] [data-verb=cancel]")
            return self.all("dialog[open]")

        until("the dialog opens", click_again)
        self.see("dialog h2", "Cancel this request?")
        # The button in the dialog has just come up, perhaps under the pointer: it does nothing yet.
        self.js("""
            const button = document.querySelector('dialog [data-verb=close-dialog]');
            button.click();
            document.querySelector('#rows tr [data-verb=cancel]').click();
            document.querySelector('dialog [data-verb=confirm]').dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }));
        """)
        self.assertTrue(self.all("dialog[open]"))
        self.click("dialog [data-verb=confirm]")
        self.see(".toast:last-child", "Cancel: done.")

    def test_07_tab_filter_order_and_open_request_are_in_the_url(self):
        self.layover.park(f"{self.dead}/a/#", 3)
        self.layover.park(f"{self.dead}/b/1", 1)
        self.open()
        self.see_rows(4)
        self.one("#q").send_keys("/a/")
        self.see_rows(3)
        self.click("[data-verb=sort][data-field=url]")
        until("sorted", lambda: self.attribute("th[data-field=url]", "aria-sort") == "ascending")
        self.click(self.row(2) + " a")
        self.see("#detail h2", "/a/2")
        url, opened = self.driver.current_url, self.rows()[1]
        self.assertIn("q=%2Fa%2F", url)
        self.driver.refresh()
        self.ready()
        self.see_rows(3)
        self.see("#detail h2", "/a/2")
        self.assertEqual(self.one("#q").get_attribute("value"), "/a/")
        self.driver.back()
        until("Back closes it", lambda: not self.shown("#detail"))
        self.assertEqual(self.attribute("th[data-field=url]", "aria-sort"), "ascending")
        # An old link to what has ended says what became of it.
        self.layover.call("POST", f"/v1/pending/{opened}/cancel", {"reason": "too late"})
        self.driver.get(url)
        self.ready()
        self.see("#sentence", "Cancelled")
        self.see("#sentence", "too late")
        # Each tab has its own address.
        self.click("#tabs a:nth-child(3)")
        until("the URL names the tab", lambda: "tab=held" in self.driver.current_url)

    def test_08_a_command_keeps_filter_and_place_and_the_focus_goes_to_the_next_row(self):
        self.layover.park(f"{self.dead}/a/#", 12)
        self.open("?q=/a/")
        self.see_rows(12)
        self.driver.set_window_size(1400, 500)
        try:
            ids = self.rows()
            self.js("document.querySelector('#rows tr:nth-child(5) a').focus()")
            self.keys("c")
            self.click("dialog [data-verb=confirm]")
            self.see_rows(11)
            self.assertNotIn(ids[4], self.rows())
            self.js("document.querySelector('#rows tr:nth-child(5) [data-verb=retry]').focus()")
            place = self.js("return scrollY")
            self.keys(Keys.ENTER)
            self.see(".toast:last-child", "Retry:")
            self.assertEqual(self.js("return document.activeElement.closest('tr')?.dataset.id"), ids[6])
            self.assertAlmostEqual(self.js("return scrollY"), place, delta=80)
            self.assertEqual(self.one("#q").get_attribute("value"), "/a/")
        finally:
            self.driver.set_window_size(1400, 900)

    def test_09_a_filter_that_cannot_be_read_is_explained_and_not_remembered(self):
        self.open_with(2)
        self.one("#q").send_keys("hots:127.0.0.1")
        self.see("#problem", "There is no 'hots:'.")
        self.see_rows(2)
        self.assertNotIn("hots", self.driver.current_url)
        bad = [m for m in self.messages() if "400" not in m["message"]]
        self.assertEqual(bad, [])
        self.driver.refresh()
        self.ready()
        self.assertEqual(self.text("#problem"), "")
        self.see_rows(2)
        # Even a link that is wrong opens the page.
        self.open("?tab=nonsense")
        self.see("#problem", "There is no tab 'nonsense'.")
        self.see_rows(2)

    def test_10_words_filter_the_list_and_are_completed_with_counts(self):
        self.layover.park(f"{self.dead}/a/#", 3)
        self.layover.park(f"{self.dead}/order", 1, method="POST", body=b"1")
        self.open()
        self.see_rows(4)
        field = self.one("#q")
        field.click()
        until("words are offered", lambda: "method:GET (3)" in self.js("return [...document.querySelectorAll('#words option')].map((o) => o.label)"))
        for text, count in (("method:post", 1), ("host:127.0.0.1 /a/", 3), ("state:attempting", 0), ('"/order"', 1)):
            field.clear()
            field.send_keys(text)
            self.see_rows(count)
        field.send_keys(Keys.ESCAPE)
        self.see_rows(4)
        self.assertEqual(field.get_attribute("value"), "")


if __name__ == "__main__":
    unittest.main()
