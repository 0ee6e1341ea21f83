package io.kafkastub.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON as maps, lists, strings, {@link Long}, {@link Double}, {@link Boolean} and null.
 *
 * <p>It is here so that a test's class path gets no JSON library, in no version, because of its broker. Not for users.
 */
public final class Json {
    private static final int DEEPEST = 1000;

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /**
     * The value that a text has.
     *
     * @throws IllegalArgumentException if it is not JSON; the message names the position
     */
    public static Object parse(String text) {
        var json = new Json(text);
        Object found = json.value();
        json.blanks();
        if (json.at < text.length()) {
            throw json.wrong("the end");
        }
        return found;
    }

    /** The text of a value. Records are objects whose fields are named in snake case. */
    public static String write(Object value) {
        var out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private Object value() {
        blanks();
        if (at == text.length()) {
            throw wrong("a value");
        }
        char first = text.charAt(at);
        switch (first) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object() {
        var found = new LinkedHashMap<String, Object>();
        enter();
        if (ends('}')) {
            return found;
        }
        do {
            blanks();
            if (at == text.length() || text.charAt(at) != '"') {
                throw wrong("a name");
            }
            String name = string();
            blanks();
            expect(':');
            found.put(name, value());
        } while (more('}'));
        return found;
    }

    private List<Object> array() {
        var found = new ArrayList<>();
        enter();
        if (ends(']')) {
            return found;
        }
        do {
            found.add(value());
        } while (more(']'));
        return found;
    }

    private void enter() {
        at++;
        if (++depth > DEEPEST) {
            throw new IllegalArgumentException("JSON of more than " + DEEPEST + " levels");
        }
    }

    private boolean ends(char end) {
        blanks();
        if (at < text.length() && text.charAt(at) == end) {
            at++;
            depth--;
            return true;
        }
        return false;
    }

    private boolean more(char end) {
        if (ends(end)) {
            return false;
        }
        expect(',');
        return true;
    }

    private String string() {
        var found = new StringBuilder();
        int from = ++at;
        while (at < text.length()) {
            char next = text.charAt(at);
            if (next == '"') {
                found.append(text, from, at++);
                return found.toString();
            }
            if (next == '\\') {
                found.append(text, from, at++);
                found.append(escaped());
                from = at;
            } else {
                at++;
            }
        }
        throw wrong("the end of a string");
    }

    private char escaped() {
        if (at == text.length()) {
            throw wrong("an escaped character");
        }
        char next = text.charAt(at++);
        switch (next) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'u':
                if (at + 4 > text.length()) {
                    throw wrong("four hexadecimal digits");
                }
                at += 4;
                return (char) Integer.parseInt(text, at - 4, at, 16);
            default:
                return next;
        }
    }

    private Object number() {
        int from = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String found = text.substring(from, at);
        try {
            if (found.chars().noneMatch(one -> one == '.' || one == 'e' || one == 'E')) {
                return Long.valueOf(found);
            }
            return Double.valueOf(found);
        } catch (NumberFormatException error) {
            at = from;
            throw wrong("a value");
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong(word);
        }
        at += word.length();
        return value;
    }

    private void expect(char wanted) {
        if (at == text.length() || text.charAt(at) != wanted) {
            throw wrong("'" + wanted + "'");
        }
        at++;
    }

    private void blanks() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
    }

    private IllegalArgumentException wrong(String wanted) {
        String near = text.substring(at, Math.min(text.length(), at + 20));
        return new IllegalArgumentException("not JSON at " + at + ": expected " + wanted + ", not '" + near + "'");
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof String) {
            quoted((String) value, out);
        } else if (value instanceof Map) {
            char before = '{';
            for (var entry : ((Map<?, ?>) value).entrySet()) {
                out.append(before);
                quoted(String.valueOf(entry.getKey()), out);
                out.append(':');
                write(entry.getValue(), out);
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof Iterable) {
            char before = '[';
            for (Object one : (Iterable<?>) value) {
                out.append(before);
                write(one, out);
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else if (value instanceof HasFields) {
            write(((HasFields) value).toMap(), out);
        } else if (value instanceof Record) {
            write(Mapping.fields((Record) value), out);
        } else if (value instanceof Number || value instanceof Boolean || value == null) {
            out.append(value);
        } else {
            throw new IllegalArgumentException("JSON has no " + value.getClass().getName());
        }
    }

    private static void quoted(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char one = text.charAt(i);
            if (one == '"' || one == '\\') {
                out.append('\\').append(one);
            } else if (one < ' ') {
                out.append(String.format("\\u%04x", (int) one));
            } else {
                out.append(one);
            }
        }
        out.append('"');
    }
}
