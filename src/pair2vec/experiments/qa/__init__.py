"""Question answering: which words of a passage answer a question, if any do?"""
