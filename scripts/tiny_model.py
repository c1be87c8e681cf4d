#!/usr/bin/env python3
"""Writes a tiny Llama model with random weights as GGUF: for testing servers, not for reading its replies.

    tiny_model.py OUT.gguf

One token per byte. The first dimension of every embedding is large and constant, so the first column of the
output matrix acts as a bias: letters and closing quotes are likelier than the rest, and strings come to an end.
"""

import sys

import gguf
import numpy as np

WIDTH, HEADS, FEED, CONTEXT = 64, 4, 128, 32768


def main(path):
    random = np.random.default_rng(7)
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.BYTE] * 256
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FEED)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)

    def weights(*shape):
        return (random.standard_normal(shape) * 0.02).astype(np.float32)

    embedding = weights(len(tokens), WIDTH)
    embedding[:, 0] = 1.0
    bias = np.full(len(tokens), -0.5, np.float32)
    for letter in b"abcdefghijklmnopqrstuvwxyz ":
        bias[3 + letter] = 0.3
    for letter in b'"{}':
        bias[3 + letter] = 0.6
    bias[3 + ord("]")] = 0.3
    output = weights(len(tokens), WIDTH)
    output[:, 0] = bias
    ones = np.ones(WIDTH, np.float32)
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", output)
    writer.add_tensor("output_norm.weight", ones)
    writer.add_tensor("blk.0.attn_norm.weight", ones)
    writer.add_tensor("blk.0.ffn_norm.weight", ones)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        writer.add_tensor(f"blk.0.{name}.weight", weights(WIDTH, WIDTH))
    writer.add_tensor("blk.0.ffn_gate.weight", weights(FEED, WIDTH))
    writer.add_tensor("blk.0.ffn_up.weight", weights(FEED, WIDTH))
    writer.add_tensor("blk.0.ffn_down.weight", weights(WIDTH, FEED))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1])
