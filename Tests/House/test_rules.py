"""Each house rule on small trees: a breach is found, the good case is silent, and a list that only shrinks works both ways."""

import unittest

from support import breaches

from house import foreign_writes, functions, imports, lines, machines, mutable_types, ports, rooms, texts, words

PACKAGE = 'targets: [.target(name: "A"), .target(\n name: "B"), .systemLibrary(name: "C"), .testTarget(name: "ATests")]'


class MutableTypeTests(unittest.TestCase):
    def files(self, count, declaration="struct Engine { var a = 1 }", extension="extension Engine {}"):
        return {"Sources/A/Engine.swift": declaration} | {f"Sources/A/Engine+{n}.swift": extension for n in range(1, count)}

    def said(self, files, listed=None):
        return breaches(mutable_types, files, listed=listed or {})

    def test_four_files_are_fine_and_five_are_not(self):
        self.assertEqual(self.said(self.files(4)), [])
        self.assertEqual(self.said(self.files(5)), ["Sources/A/Engine.swift:1: A.Engine stands in 5 files (at most 4)"])

    def test_classes_actors_and_mutating_functions_count(self):
        for declaration in ("final class Engine {}", "actor Engine {}", "struct Engine { mutating func a() {} }"):
            self.assertEqual(len(self.said(self.files(5, declaration))), 1, declaration)
        self.assertEqual(len(self.said(self.files(5, "enum Engine {}", "extension Engine { mutating func a() {} }"))), 1)

    def test_types_that_cannot_change_may_be_anywhere(self):
        declaration = "struct Engine { let a = 1; static var b = 2; var c: Int { 3 } }"
        self.assertEqual(self.said(self.files(9, declaration)), [])

    def test_extensions_by_a_dotted_name_count(self):
        files = self.files(5, "struct Engine { struct Part { var a = 1 } }", "extension Engine.Part {}")
        self.assertEqual(self.said(files), ["Sources/A/Engine.swift:1: A.Engine.Part stands in 5 files (at most 4)"])

    def test_extensions_in_other_targets_count_where_the_type_is_imported(self):
        files = self.files(4) | {"Sources/B/Engine+B.swift": "import A\nextension Engine {}"}
        self.assertEqual(len(self.said(files)), 1)
        files["Sources/B/Engine+B.swift"] = "struct Engine {}\nextension Engine {}"
        self.assertEqual(self.said(files), [])

    def test_private_types_of_the_same_name_are_several(self):
        self.assertEqual(self.said({f"Sources/A/{n}.swift": "private final class Box {}" for n in range(6)}), [])

    def test_the_list_only_shrinks(self):
        self.assertEqual(self.said(self.files(6), {"A.Engine": 6}), [])
        self.assertEqual(self.said(self.files(7), {"A.Engine": 6}), [
            "Sources/A/Engine.swift:1: A.Engine stands in 7 files (at most 4); the list allows 6"])
        self.assertEqual(self.said(self.files(5), {"A.Engine": 6}), [
            "scripts/house/mutable_types.py:1: A.Engine: the list says 6, it is 5: lower it"])
        for files in (self.files(4), {}):
            self.assertEqual(self.said(files, {"A.Engine": 6}), [
                "scripts/house/mutable_types.py:1: A.Engine needs no exception any more: strike it from the list"])


class ForeignWriteTests(unittest.TestCase):
    OWN = """
        struct Set { let limit = 1; var mode = 0; var actions: [Int] = []; var table = Table(); var count: Int { 1 }; static var all = 1 }
        struct Table {
            mutating func close() {}
            func show() {}
        }
        """

    def said(self, statement, head="func go(_ set: inout Set)", own=OWN, target="A"):
        text = head + " {\n" + statement + "\n}"
        return breaches(foreign_writes, {"Sources/A/Set.swift": own, f"Sources/{target}/Fact.swift": text}, owners=["A.Set"])

    def test_assignments_are_found(self):
        for statement in ("set.mode = 1", "set.mode += 1", "set.actions[set.mode] = 1", "set.table.rows[1]?.a = 2", "set.mode &= 1",
                          "set\n.mode = 1", "(a, set.mode) = (1, 2)", "(set.mode, a) = (1, 2)", "if a { set.mode <<= 1 }", "swap(&set.mode)"):
            self.assertEqual(len(self.said(statement)), 1, statement)
        self.assertEqual(self.said("set.mode = 1"), [
            "Sources/A/Fact.swift:2: 'mode' is written in the files of Set alone: ask the Set to do it"])

    def test_calls_that_change_a_part_are_found(self):
        for statement in ("set.actions.append(1)", "set.actions.removeAll { $0 == 1 }", "set.actions.removeSubrange(a)", "set.table.close()", "set.table[1]?.close()",
                          "while let a = set.actions.popLast() {", "set.table.a[b(c[1])]!.close()"):
            self.assertEqual(len(self.said(statement)), 1, statement)

    def test_the_value_as_a_whole_is_not_replaced(self):
        self.assertEqual(self.said("set = Set()"), [
            "Sources/A/Fact.swift:2: 'set' is written in the files of Set alone: ask the Set to do it"])

    def test_closures_leave_alone_what_the_owner_keeps(self):
        for statement in ("set.amend(id) { $0.fullState = .held }", "set.change(id) { entry in\nentry.lane = nil\n}",
                          "set.amend(id) { if a { $0.incident = nil } }", "set.change(id, as: .b) { $0.revision += 1 }"):
            self.assertEqual(len(self.said(statement)), 1, statement)
        for statement in ("set.amend(id) { $0.owner = .nobody }", "set.change(id) { $0.dueAt = 1 }\nentry.lane = nil",
                          "set.change(id)\nentry.fullState = .held", "set.amend(id) { if $0.lane == nil { $0.a = 1 } }"):
            self.assertEqual(self.said(statement), [], statement)

    def test_a_type_that_is_gone_is_said(self):
        self.assertEqual(self.said("a()", own="struct Other { var mode = 0 }"), [
            "scripts/house/foreign_writes.py:1: A.Set has no stored variable: strike it from OWNERS, or name it as it is called now"])

    def test_reading_and_asking_are_fine(self):
        for statement in ("let a = set.mode", "if set.mode == 1, set.mode <= 2, set.mode != 3 {", "set.table.show()", "set.close()",
                          "let set = set.actions.sorted().map { $0 = 1 }", "f(set.mode)\n(a, b) = (1, 2)", "set.limit = 1", "other.mode = 1",
                          "other.set.mode = 1", "set.count = 1", "// set.mode = 1", "g(set.table, a: 1) { $0.b = 1 }"):
            self.assertEqual(self.said(statement), [], statement)

    def test_every_value_of_the_type_counts_whatever_its_name(self):
        self.assertEqual(len(self.said("all.mode = 1", head="func go(on all: inout Set)")), 1)
        self.assertEqual(self.said("set.mode = 1", head="func go(on set: inout Other)"), [])

    def test_files_of_the_type_and_other_targets_are_free(self):
        self.assertEqual(self.said("}\nextension Set { func a(_ set: inout Set) { set.mode = 1 }"), [])
        # The compiler knows what other targets may write.
        self.assertEqual(self.said("set.mode = 1", target="B"), [])


class FunctionTests(unittest.TestCase):
    def said(self, line_count, listed=None, head="func go()"):
        text = "struct Engine {\n" + head + " {\n" + "a()\n" * (line_count - 2) + "}\n}\n"
        return breaches(functions, {"Sources/A/Engine.swift": text}, listed=listed or {})

    def test_seventy_lines_are_fine_and_more_are_not(self):
        self.assertEqual(self.said(70), [])
        self.assertEqual(self.said(71), ["Sources/A/Engine.swift:2: A.Engine.go has 71 lines (at most 70)"])

    def test_initializers_subscripts_and_computed_properties_are_functions(self):
        for head in ("init()", "deinit", "subscript(a: Int) -> Int", "var a: Int"):
            self.assertEqual(len(self.said(71, head=head)), 1, head)

    def test_the_list_only_shrinks(self):
        self.assertEqual(self.said(80, {"A.Engine.go": 80}), [])
        self.assertEqual(self.said(81, {"A.Engine.go": 80}), [
            "Sources/A/Engine.swift:2: A.Engine.go has 81 lines (at most 70); the list allows 80"])
        self.assertIn("it is 79: lower it", self.said(79, {"A.Engine.go": 80})[0])
        self.assertIn("strike it from the list", self.said(70, {"A.Engine.go": 80})[0])

    def test_a_file_that_cannot_be_read_is_a_breach(self):
        self.assertIn("not in pairs", breaches(functions, {"Sources/A/Engine.swift": "func a() {\n"}, listed={})[0])


class ImportTests(unittest.TestCase):
    def said(self, files, rules):
        return breaches(imports, {"Package.swift": PACKAGE} | files, rules=rules)

    def test_what_is_not_in_the_rule_may_not_be_imported(self):
        files = {"Sources/A/A.swift": "// import C\n@preconcurrency package import struct B.D\nimport E\n"}
        self.assertEqual(self.said(files, {"A": {"B", "E"}, "B": set()}), [])
        self.assertEqual(self.said(files, {"A": {"E"}, "B": set()}), ["Sources/A/A.swift:2: A may not import B"])

    def test_the_shared_support_of_tests_has_a_rule(self):
        rules = {"A": set(), "B": set(), "LayoverTestSupport": {"A"}}
        package = PACKAGE + '.target(name: "LayoverTestSupport")'
        said = breaches(imports, {"Package.swift": package, "Tests/LayoverTestSupport/C.swift": "import A\nimport C\n"}, rules=rules)
        self.assertEqual(said, ["Tests/LayoverTestSupport/C.swift:2: LayoverTestSupport may not import C"])

    def test_every_target_has_a_rule(self):
        self.assertEqual(self.said({}, {"A": set()}), [
            "Package.swift:2: B has no rule of what it may import (scripts/house/imports.py)"])

    def test_every_folder_and_every_rule_is_that_of_a_target(self):
        self.assertEqual(self.said({"Sources/D/D.swift": ""}, {"A": set(), "B": set()}), [
            "Sources/D:1: a folder that is no target of Package.swift, and has no rule of what it may import"])
        self.assertEqual(self.said({}, {"A": set(), "B": set(), "E": set()}), [
            "scripts/house/imports.py:1: a rule for E, which is no target"])

    def test_the_parts_never_import_one_another(self):
        parts = {f"Layover{name}" for name in ("Proxy", "Admin", "Upstream", "Store", "Cache", "Monitor")}
        for part in parts | {"LayoverEngine", "LayoverOrigin"}:
            self.assertEqual(imports.IMPORTS[part] & parts, set(), part)
        knowing = {name for name, allowed in imports.IMPORTS.items() if "LayoverOrigin" in allowed}
        self.assertEqual(knowing, {"LayoverProxy", "layover"})
        self.assertEqual(imports.IMPORTS["LayoverCore"], {"LayoverText", "Retry"})


class MachineTests(unittest.TestCase):
    def said(self, text, listed=None, target="LayoverCore"):
        return breaches(machines, {f"Sources/{target}/Gate.swift": text}, listed=listed or {})

    def test_a_bool_beside_an_own_state_is_a_breach(self):
        text = "struct Gate {\n enum State { case open }\n private var state = State.open\n var isLate = false\n}"
        self.assertEqual(self.said(text), [
            "Sources/LayoverCore/Gate.swift:4: LayoverCore.Gate stores Bools beside its state (1): let them be data of its cases"])
        self.assertEqual(self.said(text, target="LayoverProxy"), [])

    def test_a_shared_state_or_a_machine_makes_one_of_what_changes_itself(self):
        for state in ("var phase: GatePhase", "var machine = InnerMachine()"):
            text = "enum GatePhase {}\nstruct Gate {\n " + state + "\n var isLate: Bool?\n"
            self.assertEqual(self.said(text + "}"), [], state)
            self.assertEqual(len(self.said(text + " mutating func go() {}\n}")), 1, state)
        self.assertEqual(len(self.said("struct GateMachine { var isLate = true }")), 1)

    def test_constants_computed_and_static_bools_are_no_state(self):
        text = "struct GateMachine {\n let a: Bool\n var b: Bool { true }\n static var c = false\n var d = 1\n}"
        self.assertEqual(self.said(text), [])

    def test_the_list_only_shrinks(self):
        text = "struct GateMachine {\n var a = true\n var b = true\n}"
        self.assertEqual(self.said(text, {"LayoverCore.GateMachine": 2}), [])
        self.assertIn("the list allows 1", self.said(text, {"LayoverCore.GateMachine": 1})[0])
        self.assertIn("it is 2: lower it", self.said(text, {"LayoverCore.GateMachine": 3})[0])
        self.assertIn("strike it", self.said("", {"LayoverCore.GateMachine": 2})[0])


class PortTests(unittest.TestCase):
    def said(self, text, target="LayoverProxy"):
        return breaches(ports, {f"Sources/{target}/Port.swift": text})

    def test_others_read_what_a_machine_stores_and_tell_it_nothing(self):
        for told in ("exchange.machine.ended()", "_ = exchange?.machine.rules.mayBeSent(a)", "exchange.machine.rules.policy = new",
                     "exchange.machine.rules.count += 1", "all.forEach { $0.machine.stopBegan() }", "exchange.machine = other",
                     "exchange\n .machine.ended()", "exchange(of: id)?.machine.ended()", "self.exchange.machine.ended()"):
            self.assertEqual(self.said(f"func a() {{\n {told}\n}}"), [
                "Sources/LayoverProxy/Port.swift:2: only an exchange tells its machine facts: tell the exchange"], told)
            self.assertEqual(self.said(told, target="LayoverCore"), [])

    def test_an_exchange_tells_its_own(self):
        for text in ("machine.ended()", "self.machine.ended()", "let a = exchange.machine.holdsKey", "f(exchange.machine.rules.counts)",
                     "exchange.machine.holder == .client", "// exchange.machine.ended()", "let a = exchange.machine\n(b, c) = d",
                     "self.machine = machine", "exchange.machine != other"):
            self.assertEqual(self.said(text), [], text)


class RoomTests(unittest.TestCase):
    def said(self, files, short=0, full=None, single=None):
        return breaches(rooms, files, short=short, full=full or {}, single=single or set())

    def folder(self, count, line_count=41):
        return {f"Sources/A/{n}.swift": "\n" * line_count for n in range(count)}

    def test_the_number_of_short_files_only_falls(self):
        files = self.folder(2) | {"Sources/A/Short.swift": "\n" * 40, "Tests/A/Short.swift": "\n"}
        self.assertEqual(self.said(files, short=1), [])
        self.assertEqual(self.said(files), ["Sources:1: 1 files have at most 40 lines (allowed: 0): put small types behind their users"])
        self.assertIn("SHORT_FILES says 2, it is 1: lower it", self.said(files, short=2)[0])

    def test_a_folder_has_at_most_fifteen_files(self):
        self.assertEqual(self.said(self.folder(15)), [])
        self.assertEqual(self.said(self.folder(16)), ["Sources/A:1: Sources/A has 16 files (at most 15)"])
        self.assertEqual(self.said(self.folder(17), full={"Sources/A": 17}), [])
        self.assertIn("it is 16: lower it", self.said(self.folder(16), full={"Sources/A": 17})[0])
        self.assertIn("strike it", self.said(self.folder(15), full={"Sources/A": 17})[0])

    def test_a_folder_has_more_than_one_file(self):
        self.assertEqual(self.said(self.folder(1)), ["Sources/A:1: Sources/A has a single file: move it to its user"])
        self.assertEqual(self.said(self.folder(1), single={"Sources/A"}), [])
        self.assertIn("strike it", self.said(self.folder(2), single={"Sources/A"})[0])
        self.assertIn("strike it", self.said({}, single={"Sources/A"})[0])

    def test_folders_of_the_shared_support_of_tests_count(self):
        self.assertEqual(
            self.said({"Tests/LayoverTestSupport/A/A.swift": "\n", "Tests/BTests/A/A.swift": "\n"}),
            ["Tests/LayoverTestSupport/A:1: Tests/LayoverTestSupport/A has a single file: move it to its user"])

    def test_a_folder_of_folders_may_have_one_file(self):
        files = self.folder(1) | {f"Sources/A/B/C/{n}.swift": "\n" * 41 for n in range(2)}
        self.assertEqual(self.said(files), [])


class WordTests(unittest.TestCase):
    def said(self, text, name="Sources/A/A.swift"):
        return breaches(words, {name: text}, gone={"hop": "gate", "letKeptGo": "releaseWithheld"})

    def test_words_that_are_gone_are_found_in_identifiers_and_comments(self):
        for text in (
                "let hop = 1", "let toldHop = 1", "let hopAdmits = 1", "let hops = 1", "// Through its hop.", '"\\(hop)"', "letKeptGo()"):
            self.assertEqual(len(self.said(text)), 1, text)
        self.assertEqual(self.said("\nlet hop = 1", "Tests/A/A.swift"), ["Tests/A/A.swift:2: 'hop' is gone: say gate"])
        self.assertEqual(len(self.said("", "Sources/A/Exchange+Hops.swift")), 1)

    def test_parts_of_other_words_strings_and_other_folders_are_none(self):
        for text in ("let shop = 1", "let workshops = 1", "let hope = 1", '"a hop"'):
            self.assertEqual(self.said(text), [], text)
        self.assertEqual(self.said("let hop = 1", "Package.swift"), [])

    def test_words_of_others_stay(self):
        for text in (
                "// A hop-by-hop field.", "hopByHop.union(a)", "future.hop(to: loop)", "// Calls from elsewhere hop there.",
                "// The next hop."):
            self.assertEqual(self.said(text), [], text)

    def test_a_longer_name_may_have_a_word_that_is_gone(self):
        gone = {"ProxyRules": "ProxyConfiguration"}
        for text, count in (("ProxyRules()", 1), ("let a: [ProxyRules]", 1), ("ParentProxyRules()", 0), ("randomParentProxyRules()", 0)):
            self.assertEqual(len(breaches(words, {"Sources/A/A.swift": text}, gone=gone)), count, text)


class LineTests(unittest.TestCase):
    def said(self, text, name="Sources/A/A.swift"):
        return [line.split(": ", 1)[1] for line in breaches(lines, {name: text})]

    def test_long_files_and_lines_are_breaches(self):
        self.assertEqual(self.said("\n" * 400), [])
        self.assertEqual(self.said("\n" * 401), ["more than 400 lines"])
        self.assertEqual(self.said("a" * 141), ["more than 140 columns"])

    def test_forced_unwraps_are_breaches_in_code(self):
        for text in ("a!.b", "try! a()", "a as! B", '"\\(a!)"'):
            self.assertEqual(self.said(text), ["a forced unwrap, cast or try"], text)
        self.assertEqual(self.said('a != b // c!\n"d!"'), [])

    def test_unchecked_needs_a_comment(self):
        self.assertEqual(len(self.said("final class A: @unchecked Sendable {}")), 1)
        self.assertEqual(self.said("// Confined to its loop.\nfinal class A: @unchecked Sendable {}"), [])

    def test_names_and_sleeping_tests(self):
        self.assertEqual(self.said("struct ThingManager {}"), ["'ThingManager' is not a word of the vocabulary"])
        self.assertEqual(self.said("final class AHandler {}"), ["'AHandler' is no ChannelHandler"])
        self.assertEqual(self.said("final class AHandler: ChannelInboundHandler {}"), [])
        self.assertEqual(self.said("try await Task.sleep(for: a)", "Tests/A/A.swift"), ["a test sleeps; wait for an event"])

    def test_shared_support_of_tests_obeys_the_rules_of_sources(self):
        name = "Tests/LayoverTestSupport/A/A.swift"
        self.assertEqual(self.said("try! a()", name), ["a forced unwrap, cast or try"])
        self.assertEqual(self.said("a" * 141, name), ["more than 140 columns"])
        self.assertEqual(self.said("try await Task.sleep(for: a)", name), [])


class TextTests(unittest.TestCase):
    def said(self, name, text):
        return [line.split(": ", 1)[1] for line in breaches(texts, {name: text})]

    def test_breaches_of_every_file(self):
        self.assertEqual(self.said("a.txt", "see /ho" "me/me/a"), ["a path of one machine"])
        self.assertEqual(self.said("a.txt", "TO" "DO"), ["an open end; write an issue instead"])
        self.assertEqual(self.said("a.md", "[a](b.md) [c](a.md) [d](https://e.example)"), ["a link to nowhere: b.md"])
        self.assertEqual(self.said("a.md", "python3 -m http.server"), [
            "http.server without --directory serves the checkout, the store's key included"])
        self.assertEqual(self.said("a.py", "def"), ["no valid Python: invalid syntax"])


if __name__ == "__main__":
    unittest.main()
