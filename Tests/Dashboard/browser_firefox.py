"""An outage from the first parked request to Retry now, in Firefox by WebDriver BiDi. Run by `make test-browser`."""

import asyncio
import json
import re
import shutil
import subprocess
import tempfile
import unittest

import websockets

from support import Layover, Origin, until


class Firefox(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.layover = Layover()
        self.addCleanup(self.layover.remove)
        self.profile = tempfile.mkdtemp(prefix="layover-firefox-")
        self.addCleanup(shutil.rmtree, self.profile, True)
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--profile", self.profile, "--remote-debugging-port", "0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.stderr.close)
        self.addCleanup(self.process.terminate)
        found = None
        while not found:
            line = await asyncio.to_thread(self.process.stderr.readline)
            self.assertTrue(line, "Firefox ended")
            found = re.search(r"ws://\S+", line)
        self.number = 0
        self.socket = await websockets.connect(found.group() + "/session", max_size=None)
        await self.send("session.new", {"capabilities": {}})
        tree = await self.send("browsingContext.getTree", {})
        self.context = tree["contexts"][0]["context"]

    async def asyncTearDown(self):
        await self.socket.close()

    async def send(self, method, parameters):
        self.number += 1
        await self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(await asyncio.wait_for(self.socket.recv(), 30))
            if answer.get("id") == self.number:
                self.assertEqual(answer["type"], "success", answer)
                return answer["result"]

    async def js(self, expression):
        result = await self.send("script.evaluate", {
            "expression": expression, "target": {"context": self.context}, "awaitPromise": True, "userActivation": True})
        self.assertEqual(result["type"], "success", result)
        return result["result"].get("value")

    async def see(self, expression):
        for _ in range(1000):
            if await self.js(expression):
                return
            await asyncio.sleep(0.02)
        self.fail(f"not in time: {expression}: {await self.js('document.body.innerText')}")

    async def test_an_outage_from_the_first_request_to_retry_now(self):
        await self.send("browsingContext.navigate", {"context": self.context, "url": self.layover.url, "wait": "complete"})
        await self.see("document.body.dataset.ready === 'yes'")
        origin = Origin()
        self.addCleanup(origin.stop)
        await asyncio.to_thread(self.layover.park, f"http://127.0.0.1:{origin.port}/#", 2)
        await self.see("document.querySelector('.incident .what')?.textContent.includes('2 requests are waiting.')")
        await self.see("document.querySelectorAll('#rows tr').length === 2")
        origin.start()
        await self.js("document.querySelector('[data-verb=incident-retry]').click()")
        await self.see("document.querySelector('.incident') === null")
        await self.see("document.getElementById('empty').textContent.includes('Nothing is waiting.')")
        self.assertEqual(len(origin.requests), 2)
