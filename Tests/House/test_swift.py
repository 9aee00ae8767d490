"""The scanner that all rules rest on: what is code, and where types, functions and stored properties begin and end."""

import re
import unittest

from support import swift


class CodeTests(unittest.TestCase):
    def assert_code(self, text, code):
        """Compares the code with spaces in a row counted as one, and sees that nothing has moved."""
        file = swift(text)
        self.assertEqual(re.sub(" +", " ", file.code), code)
        self.assertEqual(len(file.code), len(text))
        self.assertTrue(all(after in (before, " ") for before, after in zip(text, file.code)))

    def test_comments_are_no_code(self):
        self.assert_code("a // { b\nc /* { /* } */ { */ d", "a \nc d")

    def test_strings_are_no_code(self):
        self.assert_code('f("{ // \\" }", "")', 'f(" ", "")')

    def test_raw_strings_end_at_their_hashes(self):
        self.assert_code('f(#"a" \\( {"#, b)', 'f(#" "#, b)')

    def test_multi_line_strings_keep_their_lines(self):
        self.assert_code('f("""\n  a " { b\n  """)', 'f("""\n \n """)')

    def test_interpolations_are_code(self):
        self.assert_code('"a \\(f("b)", c)) d"', '" (f(" ", c)) "')
        self.assert_code('#"a \\(b) \\#(c)"#', '#" (c)"#')

    def test_regular_expressions_are_no_code(self):
        self.assert_code('f(#/"{/#, of: /[{"]+/) + a / b / c', 'f( , of: ) + a / b / c')

    def test_comments_are_known_with_their_places(self):
        self.assertEqual(swift("a // b\n/* c */").comments, [(2, "// b"), (7, "/* c */")])


class DeclarationTests(unittest.TestCase):
    def functions(self, text):
        file = swift(text)
        self.assertTrue(file.declarations.is_balanced)
        found = file.declarations.functions
        return [(f"{each.owner}.{each.name}", file.line(each.start), file.line(each.end)) for each in found]

    def test_types_have_dotted_names(self):
        text = "struct A {\n final class B: C {}\n}\nextension A.B { enum D {} }\nfunc f(actor e: E) { class func }"
        types = swift(text).declarations.types
        self.assertEqual([(each.kind, each.owner, each.name) for each in types],
                         [("struct", "", "A"), ("class", "A", "B"), ("extension", "", "A.B"), ("enum", "A.B", "D")])

    def test_functions_end_at_their_last_brace(self):
        text = """\
            struct A {
                init?(b: () -> Int = { 1 }) { self.init(c: 2) }
                static func < (a: A, b: A) -> Bool {
                    if a { return b { $0 } }
                }
                subscript(a: Int) -> Int { a }
                func generic<T>(
                    _ t: T
                ) throws(E) -> [T] where T: B {
                }
            }
            """
        self.assertEqual(self.functions(text), [
            ("A.init", 2, 2), ("A.<", 3, 5), ("A.subscript", 6, 6), ("A.generic", 7, 10)])

    def test_computed_properties_are_functions(self):
        text = "struct A {\n var a: Int { 1 }\n var b = { 2 }()\n var c: Int { didSet { d() } }\n var e:\n  F { g }\n}"
        self.assertEqual(self.functions(text), [("A.a", 2, 2), ("A.e", 5, 6)])

    def test_requirements_of_protocols_are_no_functions(self):
        self.assertEqual(self.functions("protocol A {\n init(b: B)\n func c() -> D\n var e: F { get }\n}\nfunc g() {}"), [(".g", 6, 6)])

    def test_properties_are_those_of_a_type_and_no_local_ones(self):
        text = """\
            struct A {
                @B(c: 1) private(set) var d: [E: F] = [:]
                static var g = 1
                func h() { var i = 2 }
                let j: K?
                var l = M.n
            }
            """
        properties = swift(text).declarations.types[0].properties
        self.assertEqual([(each.keyword, each.name, each.type, each.value, each.is_of_value) for each in properties], [
            ("var", "d", "[E: F]", "[:]", True), ("var", "g", "", "1", False), ("let", "j", "K?", "", True), ("var", "l", "", "M.n", True)])

    def test_a_brace_without_its_other_one_is_noticed(self):
        self.assertFalse(swift("func a() {").declarations.is_balanced)
        self.assertFalse(swift("}").declarations.is_balanced)


if __name__ == "__main__":
    unittest.main()
